# RUN: envisa dis --help
