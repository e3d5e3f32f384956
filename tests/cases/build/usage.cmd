# Where the compiler is not installed, its package is named.
# RUN: PATH= envisa build %r/examples/vadd/vadd.cl --device dg2 -o %t/vadd.zebin
# RUN: envisa build %r/examples/vadd/vadd.cl --device dg2 --ocloc %t/no-such-compiler -o %t/vadd.zebin
# RUN: envisa build %r/examples/vadd/vadd.cl
# RUN: envisa build %r/examples/vadd/job.toml --device dg2
# RUN: envisa build no-such.cl --device dg2
# RUN: PATH= envisa run %r/examples/vadd/vadd.cl --device dg2 --global 4
# RUN: envisa run %r/examples/vadd/vadd.cl --global 4
# RUN: ls %t
