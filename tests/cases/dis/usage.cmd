# RUN: envisa dis usage.cmd
# RUN: envisa dis no-such.isa
# RUN: envisa dis
# RUN: envisa dis %r/examples/vadd/vadd.zebin
