# A job that fits a kernel, and runs.
# RUN: envisa init %r/examples/vadd/vadd.zebin
# RUN: envisa init %r/examples/histogram/histogram.zebin -o %t/histogram.toml
# RUN: envisa run %t/histogram.toml
# RUN: envisa init %r/examples/image/emboss.zebin -o %t/emboss.toml
# RUN: envisa run %t/emboss.toml
# RUN: envisa init %r/examples/mandelbrot/mandelbrot.zebin
# RUN: envisa init %r/examples/race/race.zebin
# RUN: envisa init %r/examples/vadd/vadd.zebin -o %t/emboss.toml
# RUN: envisa init %r/examples/scatter/scatter.visaasm
# RUN: envisa init %r/examples/vadd/vadd.zebin --kernel vsub
