/* check
what = "a barrier of the sub-group orders global memory, and its work-items exchange values by local memory"
finds = ["F0004"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
o = "zeros:i32:16"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#ifdef BUG
#define WHICH CLK_GLOBAL_MEM_FENCE
#else
#define WHICH CLK_LOCAL_MEM_FENCE
#endif
kernel void k(global const int *a, global int *o)
{
    local int t[16];
    int l = get_local_id(0);
    t[l] = a[l] * 3; // <-
    sub_group_barrier(WHICH);
    o[l] = t[(l + 5) & 15]; // <-
}
