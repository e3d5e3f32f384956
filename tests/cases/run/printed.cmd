# printf, pictures, hand-written code: the examples.
# RUN: envisa run %r/examples/printf/job.toml
# RUN: envisa run %r/examples/printf/job.toml --json
# RUN: envisa run %r/examples/image/job.toml --out out=%t/a.png --out in=%t/b.npy
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:2d:4,4:r:f32=iota:f32:16 --arg out=image:2d:4,4:r:f32=zeros:f32:16 --print out:6
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=iota:f32:16 --arg out=@%r/examples/image/in.png
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:2d:4,4:r:f32=iota:f32:15 --arg out=@%r/examples/image/in.png
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:2d:4,4:rgb:f32=iota:f32:16 --arg out=@%r/examples/image/in.png
# RUN: envisa run %r/examples/scatter/job.toml
# RUN: envisa run %r/examples/collide/job.toml
# RUN: envisa run %r/examples/collide/job.toml --json --message-format json --stats
# RUN: ls %t
