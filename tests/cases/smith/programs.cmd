# Programs follow from their numbers; one instruction of a text is made wrong.
# NEEDS: ocloc
# RUN: envisa smith --first 3 -o %t/out
# RUN: ls %t/out
# RUN: cat %t/out/k3.toml
# RUN: envisa run %t/out/k3.toml --device dg2 --engine interp --print shared
# RUN: envisa mutate ../diff/swapped.visaasm --list
# RUN: envisa mutate ../diff/swapped.visaasm --kind swapped -o %t/wrong.visaasm
# RUN: envisa diff ../diff/swapped.visaasm %t/wrong.visaasm -- --platform SKL --arg X=iota:i32:8 --arg T6=zeros:i32:8
# RUN: envisa mutate ../diff/swapped.visaasm --kind barrier -o %t/none.visaasm
