# Results appear whole, all of them or none; never after a fault.
# RUN: envisa run %r/examples/vadd/job.toml --out c=%t/c.npy --out a=%t/a.bin --print c:2
# RUN: ls %t
# RUN: envisa run %r/examples/vadd/job.toml --arg b=@%t/c.npy --print c:3
# RUN: envisa run %r/examples/vadd/job.toml --out c=%t/no-such/c.npy --out a=%t/first.npy
# RUN: envisa run %r/examples/vadd/job.toml --out a=%t/first.npy --out c=%t/c.png
# RUN: envisa run %r/examples/vadd/job.toml --out a=%t/first.npy --out c=%t/first.npy
# RUN: envisa run %r/examples/vadd/job.toml --out n=%t/n.npy
# RUN: envisa run %r/examples/vadd/job.toml --out q=%t/n.npy
# RUN: envisa run %r/examples/vadd/job.toml --out c
# RUN: envisa run %r/examples/vadd/job.toml --print c:many
# RUN: envisa run %r/examples/vadd/job.toml --arg c=zeros:f32:900 --out a=%t/first.npy --print c:3
# RUN: envisa run %r/examples/vadd/job.toml --out c=- | envisa info -
# RUN: ls %t
