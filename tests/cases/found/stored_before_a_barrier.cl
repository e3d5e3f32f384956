// What is stored before a barrier is there behind it, though code for AVX2 puts stores in another order.
// NEEDS: ocloc
// RUN: ENVISA_LEVEL=avx512 envisa run %s --device tgllp --kernel sums --global 33 --local 33 --engine jit --arg 0=iota:u64:40 --arg 1=zeros:u64:66 --arg 2=294 --print 1:66
// RUN: ENVISA_LEVEL=avx2 envisa run %s --device tgllp --kernel sums --global 33 --local 33 --engine jit --arg 0=iota:u64:40 --arg 1=zeros:u64:66 --arg 2=294 --print 1:66
// RUN: ENVISA_LEVEL=avx512 envisa run %s --device dg2 --kernel sums --global 33 --local 33 --engine jit --arg 0=iota:u64:40 --arg 1=zeros:u64:66 --arg 2=294 --print 1:66
// RUN: ENVISA_LEVEL=avx2 envisa run %s --device dg2 --kernel sums --global 33 --local 33 --engine jit --arg 0=iota:u64:40 --arg 1=zeros:u64:66 --arg 2=294 --print 1:66
kernel void sums(global const ulong *in, global ulong *out, uint b)
{
    uint lid = get_local_id(0), gid = get_global_id(0);
    local float4 unused[33];
    short rest = (short)0x8000 % (short)((convert_short(in[gid % 40]) & 0x3f) + 1);
    float x = convert_float((int)b & 0x7ff);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[gid] = (ulong)(long)(x * 4) * 13ul;
    out[gid + get_global_size(0)] = rest;
}
