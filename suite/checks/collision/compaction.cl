/* check
what = "a compaction by a scan of flags, where those that are left out store, too"
finds = ["F0003", "F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0), keep = a[i] % 3 == 0;
    t[i] = keep;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s < 64; s *= 2) {
        int x = i >= s ? t[i - s] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        t[i] += x;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    int at = t[i] - keep;
#ifndef BUG
    if (keep)
#endif
        o[at] = a[i]; // <-
}
