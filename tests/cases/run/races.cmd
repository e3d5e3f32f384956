# Data races: within a group (a barrier is missing), between groups (an atomic is missing). The same is found on
# any number of host threads.
# RUN: envisa run %r/examples/race/job.toml
# RUN: envisa run %r/examples/race/job.toml --jobs 3 --json
# RUN: envisa run %r/examples/race/race.zebin --kernel total --global 128 --arg in=iota:i32:128 --arg out=zeros:i32:1 --check --jobs 1
# RUN: envisa run %r/examples/race/race.zebin --kernel total --global 128 --arg in=iota:i32:128 --arg out=zeros:i32:1 --check --jobs 4
# RUN: envisa run %r/examples/race/race.zebin --kernel total --global 32 --arg in=iota:i32:128 --arg out=zeros:i32:1 --check
