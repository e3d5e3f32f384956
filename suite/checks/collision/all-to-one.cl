/* check
what = "all work-items of a group store to one local variable"
finds = ["F0003", "F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
*/
kernel void k(global int *a)
{
    local int last;
    int i = get_local_id(0);
#ifdef BUG
    last = i; // <-
#else
    if (i == 63) last = i;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] += last;
}
