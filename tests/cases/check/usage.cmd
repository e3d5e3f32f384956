# RUN: envisa check
# RUN: envisa check no-such.visaasm
# RUN: envisa check fine.visaasm --platform nine
# RUN: envisa check fine.visaasm --deny no-such-rule
# RUN: envisa check fine.visaasm --deny dead
# RUN: envisa check --explain no-such-rule
# RUN: envisa check --explain two-registers
