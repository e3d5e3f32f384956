# RUN: envisa as --help
