/* check
what = "a scan that reads what its neighbour writes in the same step"
finds = ["F0004"]
global = [128]
local = [128]
[args]
a = "iota:i32:128"
*/
kernel void k(global int *a)
{
    local int t[128];
    int i = get_local_id(0);
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 1; n < 128; n *= 2) {
        int x = i >= n ? t[i - n] : 0; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        t[i] += x; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[i] = t[i];
}
