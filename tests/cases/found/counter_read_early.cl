// A counter of atomics that is read plainly: with the barrier between them there is nothing to tell.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel compact --global 128 --local 128 --arg a=iota:u32:128 --arg n=zeros:u32:1 --arg o=zeros:u32:128
// CODE: envisa run %s --device dg2 --check --kernel compact --global 128 --local 128 --arg a=iota:u32:128 --arg n=zeros:u32:1 --arg o=zeros:u32:128
__kernel void compact(__global const uint *a, __global uint *n, __global uint *o) {
    int g = get_global_id(0);
    if (a[g] & 1) { uint p = atomic_inc(n); o[p] = a[g]; }
#ifdef BUG
    if (g == 127) o[127] = *n;
#else
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (g == 127) o[127] = *n;
#endif
}
