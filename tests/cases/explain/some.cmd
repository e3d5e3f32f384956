# The five founding pages, and one of most other families.
# RUN: envisa explain scatter
# RUN: envisa explain 0x4e.03
# RUN: envisa explain SCATTER_SCALED
# RUN: envisa explain 0x4b
# RUN: envisa explain oword_ld_unaligned
# RUN: envisa explain add
# RUN: envisa explain lsc_load.ugm
# RUN: envisa explain dpas
# RUN: envisa explain goto
