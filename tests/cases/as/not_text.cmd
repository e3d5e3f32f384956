# Neither UTF-8 nor vISA.
# RUN: cp usage.cmd %t/a.visaasm
# RUN: poke %t/a.visaasm 3 ff00fe
# RUN: envisa as %t/a.visaasm
# RUN: cut %t/a.visaasm 0
# RUN: envisa as %t/a.visaasm
# RUN: ls %t
