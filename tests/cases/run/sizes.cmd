# Sizes: those the kernel was compiled for, absurd ones.
# RUN: envisa run %r/examples/histogram/histogram.zebin --global 1024 --local 64 --arg data=zeros:u8:16 --arg n=16 --arg bins=zeros:u32:256
# RUN: envisa run %r/examples/histogram/histogram.zebin --global 300 --arg data=zeros:u8:16 --arg n=16 --arg bins=zeros:u32:256 --print bins:2
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 0 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 1,1,1,1 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --local 8,8 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --local 0 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4096 --local 2048 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 18446744073709551615 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 18446744073709551616 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 4294967296,4294967296,4294967296 --local 1,1,1 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64,64,64 --local 4294967295,4294967295,4294967295 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --offset 18446744073709551615 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --arg a=zeros:f32:18446744073709551615 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --arg a=zeros:f32:1000000000000 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --jobs 1000000 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global -5
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --groups 4 --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --kernel vad --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.zebin --global 64 --device skl --arg a=0 --arg b=0 --arg c=0 --arg n=0
# RUN: envisa run %r/examples/vadd/vadd.cl
