/* check
what = "a barrier in a branch, in groups of 16 that may be one sub-group"
finds = ["F0007"]
global = [64]
local = [16]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
__attribute__((reqd_work_group_size(16, 1, 1)))
kernel void k(global const int *a, global int *o)
{
    local int t[16];
    int l = get_local_id(0), g = get_global_id(0);
    t[l] = a[g];
#ifdef BUG
    if (l < 9) barrier(CLK_LOCAL_MEM_FENCE); // <-
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[g] = t[l];
}
