# RUN: envisa explain
# RUN: envisa explain scatter --json
