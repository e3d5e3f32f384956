// A barrier for global memory does not order accesses to local memory.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel layer --global 64 --local 64 --arg in=iota:f32:64 --arg out=zeros:f32:1 --arg w=local:256
// CODE: envisa run %s --device dg2 --check --kernel layer --global 64 --local 64 --arg in=iota:f32:64 --arg out=zeros:f32:1 --arg w=local:256
__kernel void layer(__global const float *in, __global float *out, __local float *w) {
    int l = get_local_id(0), n = get_local_size(0);
    w[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = n / 2; p > 0; p >>= 1) {
        if (l < p) w[l] += w[l + p];
#ifdef BUG
        barrier(CLK_GLOBAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (l == 0) out[get_group_id(0)] = w[0];
}
