# RUN: envisa fmt --help
