/* check
what = "a fence of local memory in place of a barrier"
finds = ["F0004", "F0003"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0);
    t[i] = a[i]; // <-
#ifdef BUG
    mem_fence(CLK_LOCAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[i] = t[63 - i]; // <-
}
