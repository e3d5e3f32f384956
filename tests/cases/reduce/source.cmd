# OpenCL C is reduced by its declarations, statements, bodies, operands and tokens.
# RUN: cp source.cl.in %t/source.cl
# RUN: envisa reduce %t/source.cl --jobs 1 --test 'grep -q ">> 28" {} && grep -q "kernel" {}'
# RUN: ls %t/source.reduced
# RUN: cat %t/source.reduced/reduced.cl
