# Colours, narrow terminals, pages.
# RUN: envisa man --output %t/man
# RUN: envisa man nothing
# RUN: envisa completions tcsh
# RUN: NO_COLOR=1 envisa check bad.visaasm.in
# RUN: envisa check bad.visaasm.in --color always
# RUN: COLUMNS=60 envisa check bad.visaasm.in
# RUN: envisa frobnicate --color always
# RUN: envisa explain mov --color sometimes
