// A barrier of sub-groups does not wait for other sub-groups.
// NEEDS: ocloc
// RUN: envisa run %s --device dg2 --check --options=-DBUG --kernel rot --global 64 --local 64 --arg a=iota:i32:64 --arg o=zeros:i32:64
// CODE: envisa run %s --device dg2 --check --kernel rot --global 64 --local 64 --arg a=iota:i32:64 --arg o=zeros:i32:64
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void rot(__global const int *a, __global int *o) {
    __local int t[64];
    int l = get_local_id(0);
    t[l] = a[l];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    o[l] = t[(l + 1) & 63];
#else
    o[l] = t[(l & ~15) | ((l + 1) & 15)];
#endif
}
