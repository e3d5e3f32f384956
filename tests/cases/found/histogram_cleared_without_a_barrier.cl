// A histogram in local memory is counted before its clearing is over.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --kernel hist --global 64 --local 64 --arg a=rand:u32:64:1 --arg o=zeros:u32:16
__kernel void hist(__global const uint *a, __global uint *o) {
    __local uint h[16];
    int l = get_local_id(0);
    if (l < 16) h[l] = 0;
    /* barrier(CLK_LOCAL_MEM_FENCE) missing */
    atomic_inc(&h[a[get_global_id(0)] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) atomic_add(&o[l], h[l]);
}
