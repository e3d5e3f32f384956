# Zebins cut and spoilt.
# RUN: cp %r/examples/vadd/vadd.zebin %t/a.zebin
# RUN: poke %t/a.zebin 40 ffffffffffffffff
# RUN: envisa run %t/a.zebin --global 4
# RUN: cut %t/a.zebin 64
# RUN: envisa run %t/a.zebin --global 4
# RUN: cut %t/a.zebin 0
# RUN: envisa run %t/a.zebin --global 4
# RUN: envisa run no-such.zebin --global 4
# RUN: envisa run %t --global 4
# RUN: envisa run damaged.cmd --global 4
