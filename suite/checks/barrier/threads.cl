/* check
what = "whole threads leave before a barrier"
finds = ["F0007", "F0018"]
global = [128]
local = [128]
[args]
a = "iota:i32:128"
n = "32"
*/
kernel void k(global int *a, int n)
{
    local int t[128];
    int i = get_local_id(0);
#ifdef BUG
    if (i >= n) return;
#endif
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE); // <-
    a[i] = t[i] + 1;
}
