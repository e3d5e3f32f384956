# What cannot be read or written, and wrong usage: exit code 2.
# RUN: envisa as
# RUN: envisa as no-such.visaasm
# RUN: envisa as .
# RUN: envisa as fine.visaasm -o %t/no/such/folder.isa
# RUN: envisa as fine.visaasm -o %t
# RUN: envisa as fine.visaasm --platform SKX
# RUN: envisa as fine.visaasm --colour
# RUN: envisa as fine.visaasm -o %t/fine.isa
# RUN: envisa as %t/fine.isa
# RUN: envisa as %t/fine.isa -o %t/x.isa
# RUN: envisa assemble fine.visaasm
# RUN: envisa
