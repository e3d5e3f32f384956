# What is wrong in a job is told with its place; what the command line gives is not the job's.
# RUN: envisa run wrong_value.toml
# RUN: envisa run wrong_check.toml
# RUN: envisa run wrong_expect.toml
# RUN: envisa run wrong_platform.toml
# RUN: envisa run wrong_key.toml
# RUN: envisa run wrong_type.toml
# RUN: envisa run wrong_type.toml --arg a=zeros:f32:4
# RUN: envisa run wrong_syntax.toml
# RUN: envisa run wrong_value.toml --message-format json
# RUN: envisa run no-such.toml
# RUN: cp pvc_image.zebin.in %t/image.zebin
# RUN: envisa run %t/image.zebin --global 2,2 --arg in=image:2d:2,2:rgba:f32=iota:f32:16 --arg out=zeros:f32x4:4 --print out
# RUN: envisa explain F0001
# RUN: envisa explain e0301
# RUN: envisa explain V0206
# RUN: envisa explain F9999
