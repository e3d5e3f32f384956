# A job that fits a kernel, and runs.
# RUN: envisa init %r/examples/vadd/vadd.zebin
# RUN: envisa init %r/examples/histogram/histogram.zebin -o %t/histogram.toml
# RUN: envisa run %t/histogram.toml
# RUN: envisa init %r/examples/image/emboss.zebin -o %t/emboss.toml
# RUN: envisa run %t/emboss.toml
# RUN: envisa init %r/examples/mandelbrot/mandelbrot.zebin -o %t/mandelbrot.toml
# RUN: cat %t/mandelbrot.toml
# RUN: envisa run %t/mandelbrot.toml
# RUN: envisa init %r/examples/race/race.zebin
# RUN: envisa init %r/examples/vadd/vadd.zebin -o %t/emboss.toml
# RUN: envisa init %r/examples/scatter/scatter.visaasm -o %t/scatter.toml
# RUN: cat %t/scatter.toml
# RUN: envisa run %t/scatter.toml
# RUN: envisa init %r/examples/scatter/scatter.visaasm --platform nowhere
# RUN: envisa init %r/examples/image/emboss.zebin
# RUN: envisa init %r/examples/vadd/vadd.zebin --kernel vsub
