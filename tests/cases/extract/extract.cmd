# The text of a zebin's kernels: the lines that findings name.
# RUN: envisa extract %r/examples/vadd/vadd.zebin -o %t/out
# RUN: ls %t/out
# RUN: envisa extract %r/examples/vadd/vadd.zebin -o %t/all --all
# RUN: ls %t/all
# RUN: envisa extract %r/crates/envisa-zebin/tests/data/calls.dg2.zebin -o %t/calls
# RUN: envisa extract %r/crates/envisa-zebin/tests/data/calls.dg2.zebin -o -
# RUN: envisa dis %r/examples/vadd/vadd.zebin --kernel vdd
# RUN: envisa extract extract.cmd
# RUN: envisa extract no-such.zebin
