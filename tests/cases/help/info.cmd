# RUN: envisa info --help
