# RUN: envisa explain scater
# RUN: envisa explain frobnicate
# RUN: envisa explain 0xfe
# RUN: envisa explain 0xzz
# RUN: envisa explain ''
# RUN: envisa explain 0x4e.77
# RUN: envisa explain scater --json
