# Several files, one of which cannot be read; files of other kinds; a zebin; usage as JSON.
# RUN: envisa check %r/examples/scatter/scatter.visaasm no-such.visaasm bad.visaasm.in
# RUN: envisa check no-such.visaasm bad.visaasm.in --format json
# RUN: envisa check no-such.visaasm bad.visaasm.in --format sarif
# RUN: envisa check bad.visaasm.in --message-format json
# RUN: envisa check kernel.cl.in
# RUN: cp kernel.cl.in %t/kernel.cl
# RUN: envisa check %t/kernel.cl
# RUN: envisa run %t/kernel.cl --global 1
# RUN: envisa dis %t/kernel.cl
# RUN: envisa info %t/kernel.cl
# RUN: envisa as %t/kernel.cl
# RUN: envisa fmt %t/kernel.cl
# RUN: cp kernel.cl.in %t/garbage.isa
# RUN: envisa check %t/garbage.isa
# RUN: envisa run %t/garbage.isa --platform SKL
# RUN: envisa dis %t/garbage.isa
# RUN: envisa info %t/garbage.isa
# RUN: envisa check %r/examples/vadd/vadd.zebin --platform dg2
# RUN: envisa check --message-format json
# RUN: envisa frobnicate --message-format=json
# RUN: envisa run no-such.zebin --global 1 --message-format json
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 1 --message-format json
# RUN: envisa dis no-such.isa --message-format json
