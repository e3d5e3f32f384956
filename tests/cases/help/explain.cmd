# RUN: envisa explain --help
