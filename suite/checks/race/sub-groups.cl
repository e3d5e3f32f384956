/* check
what = "a barrier of the sub-group between work-items of different ones"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "rand:i32:64:4"
o = "zeros:i32:64"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0);
    t[i] = a[i]; // <-
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    o[i] = t[(i + 1) & 63]; // <-
#else
    o[i] = t[(i & ~15) | ((i + 1) & 15)];
#endif
}
