# RUN: envisa run --help
