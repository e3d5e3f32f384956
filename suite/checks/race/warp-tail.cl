/* check
what = "the last steps of a reduction go without barriers"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:1"
*/
kernel void k(global const int *a, global int *o)
{
    local volatile int t[64];
    int i = get_local_id(0);
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 32; s > 0; s >>= 1) {
        if (i < s) t[i] += t[i + s]; // <-
#ifdef BUG
        if (s > 8)
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) o[0] = t[0];
}
