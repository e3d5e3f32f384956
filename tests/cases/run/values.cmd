# Values on the command line: lists, bounds, one buffer as two arguments, images of all shapes; what is taken for what it is not.
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=f32:0.5,-1,1e3,inf --arg c=zeros:f32:4 --arg n=4 --print c
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,nan --arg b=f32:0.5,-1,1e3,inf --arg c=zeros:f32:4 --arg n=4 --print c --json
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=arg:a --arg c=zeros:f32:4 --arg n=4 --expect c=f32:2,4,6,8
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 2 --arg a=f32:1,2,3,4 --arg b=arg:a+8 --arg c=arg:a+4 --arg n=2 --print a --print b --print c
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=f32:1,2,3,4 --arg c=zeros:f32:4 --arg n=4 '--expect' 'c=f32:2,4,6,8.000001,ulp 2'
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=f32:1,2,3,4 --arg c=zeros:f32:4 --arg n=4 --expect c=f32:2,4,6,9
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=f32:1,2,3,4 --arg c=zeros:f32:4 --arg n=4 '--expect' 'c=f32:2,4,6,9,about right'
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=arg:n --arg c=zeros:f32:4 --arg n=4
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=arg:a+17 --arg c=zeros:f32:4 --arg n=4
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=f32:1,2,3,4 --arg b=arg:a --arg c=zeros:f32:4 --arg n=i32:1,2
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=@%r/examples/image/in.png --arg b=zeros:f32:4 --arg c=zeros:f32:4 --arg n=4
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=@bools.npy.in --arg b=zeros:f32:4 --arg c=zeros:f32:4 --arg n=4
# RUN: cp bools.npy.in %t/bools.npy
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=@%t/bools.npy --arg b=zeros:f32:4 --arg c=zeros:f32:4 --arg n=4
# RUN: cp bools.npy.in %t/a.npz
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=@%t/a.npz --arg b=zeros:f32:4 --arg c=zeros:f32:4 --arg n=4
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=zeros:f32:4 --arg b=zeros:f32:4 --arg c=zeros:f32:4 --arg n=4 --out c=%t/x.jpg
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4 --arg a=zeros:f32:4 --arg b=zeros:f32:4 --arg c=zeros:f32:4 --arg n=4 --out c=%t/x.csv
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 2 --arg a=f32:1,2 --arg b=f32:1,2 --arg c=zeros:f32:2 --arg n=2 --out c=- --print c
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 2 --arg a=f32:1,2 --arg b=f32:1,2 --arg c=zeros:f32:2 --arg n=2 --out c=- --json
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 100 --local 64 --arg a=zeros:f32:100 --arg b=zeros:f32:100 --arg c=zeros:f32:100 --arg n=100
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:3d:4,4,1:r:f32=iota:f32:16 --arg out=image:2d:4,4:r:f32=zeros:f32:16
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:1d:16:r:f32=iota:f32:16 --arg out=image:2d:4,4:r:f32=zeros:f32:16
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:4d:16:r:f32=iota:f32:16 --arg out=image:2d:4,4:r:f32=zeros:f32:16
# RUN: envisa run %r/examples/image/emboss.zebin --global 4,4 --arg in=image:2d:0,4:r:f32=iota:f32:16 --arg out=image:2d:4,4:r:f32=zeros:f32:16
# RUN: ls %t
