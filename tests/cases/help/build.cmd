# RUN: envisa build --help
