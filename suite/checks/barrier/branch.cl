/* check
what = "a barrier in a branch that a part of the work-items takes"
finds = ["F0007", "F0018"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
*/
kernel void k(global int *a)
{
    local int t[64];
    int i = get_local_id(0);
    t[i] = a[i];
#ifdef BUG
    if (i % 4 != 3)
#endif
        barrier(CLK_LOCAL_MEM_FENCE); // <-
    a[i] = t[i] + 1;
}
