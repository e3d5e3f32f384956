# RUN: envisa info %r/examples/vadd/vadd.zebin
# RUN: envisa info %r/examples/histogram/histogram.zebin --json
# RUN: cp %r/examples/vadd/vadd.zebin %t/cut.zebin
# RUN: cut %t/cut.zebin 3000
# RUN: envisa info %t/cut.zebin
# RUN: cut %t/cut.zebin 50
# RUN: envisa info %t/cut.zebin --json
