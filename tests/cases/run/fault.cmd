# A fault points into the text, in every format; exit code 1.
# RUN: envisa run %r/examples/vadd/job.toml --arg c=zeros:f32:16 --arg b=zeros:f32:1000
# RUN: envisa run %r/examples/vadd/job.toml --arg c=zeros:f32:16 --json
# RUN: envisa run %r/examples/vadd/job.toml --arg b=0 --message-format json
# RUN: envisa run %r/examples/vadd/job.toml --arg b=0 --color always
# RUN: envisa run %r/examples/vadd/job.toml --arg b=0 --color never --stats --check --jobs 1
