/* check
what = "a group turns its numbers around without a barrier"
finds = ["F0004"]
one = true
global = [256]
local = [128]
[args]
a = "iota:i32:256"
o = "zeros:i32:256"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[128];
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[get_global_id(0)] = t[127 - l]; // <-
}
