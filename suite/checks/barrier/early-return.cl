/* check
what = "work-items return before a barrier"
finds = ["F0007", "F0018"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
n = "50"
*/
kernel void k(global int *a, int n)
{
    local int t[64];
    int i = get_local_id(0);
#ifdef BUG
    if (i >= n) return;
#endif
    t[i] = i < n ? a[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE); // <-
    if (i < n) a[i] = t[n - 1 - i];
}
