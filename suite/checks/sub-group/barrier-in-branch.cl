/* check
what = "a barrier of a sub-group that a part reaches"
finds = ["F0007"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0);
    t[i] = a[i];
#ifdef BUG
    if (get_sub_group_local_id() < 5) sub_group_barrier(CLK_LOCAL_MEM_FENCE); // <-
#else
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[i] = t[i ^ 1];
}
