# Arguments: by name, by index; and every mistake.
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --local 16 --arg a=iota:f32:16 --arg b=fill:f32:16:0.5 --arg c=zeros:f32:16 --arg n=16 --print c:4
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg 0=iota:f32:16 --arg 1=fill:f32:16:0.5 --arg 2=zeros:f32:16 --arg 3=16 --print 2
# RUN: envisa run %r/examples/vadd/vadd.zebin
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=iota:f32:16 --arg b=iota:f32:16 --arg c=zeros:f32:16
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg d=1
# RUN: envisa run %r/examples/histogram/histogram.zebin --global 256 --arg bnis=zeros:u32:256
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=1 --arg a=2
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=0 --arg 0=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=5 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=iota:i32:16 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=local:64 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=image:2d:4,4:rgba:unorm8=zeros:u8:64 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=@no-such.npy --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=iota:f23:16 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=0 --arg b=0 --arg c=0 --arg n=1.5
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=0 --arg b=0 --arg c=0 --arg n=3000000000
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=0 --arg b=0 --arg c=0 --arg n=f32:1
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a=0 --arg b=0 --arg c=0 --arg n=iota:i32:4
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg a
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 16 --arg =4
