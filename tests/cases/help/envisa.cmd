# RUN: envisa --help
