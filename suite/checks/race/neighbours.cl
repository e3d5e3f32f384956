/* check
what = "work-items of one thread exchange values without a barrier"
finds = ["F0004"]
global = [8]
local = [8]
[args]
a = "iota:i32:8"
*/
kernel void k(global int *a)
{
    local int t[8];
    int i = get_local_id(0);
    t[i] = a[i]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    a[i] = t[i ^ 1] + 1; // <-
}
