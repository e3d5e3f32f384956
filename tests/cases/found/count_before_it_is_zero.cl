// A counter that one work-item sets while others already count: no order is in between, so both sides are told.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --kernel count --global 128 --local 128 --arg a=rand:u32:128:3 --arg o=zeros:u32:1
__kernel void count(__global const uint *a, __global uint *o) {
    __local uint c;
    if (get_local_id(0) == 127) c = 0;
    if (a[get_global_id(0)] % 3 == 0) atomic_inc(&c);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) o[get_group_id(0)] = c;
}
