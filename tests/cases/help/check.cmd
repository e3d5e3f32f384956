# RUN: envisa check --help
