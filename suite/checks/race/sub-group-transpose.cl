/* check
what = "a sub-group exchanges values by local memory without a barrier of its own"
finds = ["F0004"]
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
    int i = get_local_id(0), w = get_max_sub_group_size();
    local int *mine = t + get_sub_group_id() * w;
    int l = get_sub_group_local_id();
    mine[l] = a[i]; // <-
#ifndef BUG
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[i] = mine[w - 1 - l]; // <-
}
