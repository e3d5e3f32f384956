// A predicated selection of words in place, by two halves of the channels: item n has n, but for the first two.
// NEEDS: ocloc
// RUN: ENVISA_LEVEL=avx512 envisa run %s --device skl --kernel keep --global 32 --local 32 --engine jit --arg 0=iota:i16:32 --arg 1=zeros:i16:32 --print 1:32
// RUN: ENVISA_LEVEL=avx2 envisa run %s --device skl --kernel keep --global 32 --local 32 --engine jit --arg 0=iota:i16:32 --arg 1=zeros:i16:32 --print 1:32
// RUN: ENVISA_LEVEL=avx512 envisa run %s --device tgllp --kernel keep --global 32 --local 32 --engine jit --arg 0=iota:i16:32 --arg 1=zeros:i16:32 --print 1:32
// RUN: ENVISA_LEVEL=avx2 envisa run %s --device tgllp --kernel keep --global 32 --local 32 --engine jit --arg 0=iota:i16:32 --arg 1=zeros:i16:32 --print 1:32
__attribute__((intel_reqd_sub_group_size(32)))
kernel void keep(global const short *source, global short *out)
{
    int i = get_global_id(0);
    short x = source[i];
    uchar lane = (uchar)get_sub_group_local_id();
    short sum = 0;
    sum += lane < 2 ? (short)0 : x;
    out[i] = sum;
}
