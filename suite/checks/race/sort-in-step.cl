/* check
what = "a bitonic sort leaves barriers out for steps within 32 work-items"
finds = ["F0004", "F0003"]
global = [64]
local = [64]
[args]
a = "rand:i32:128:9"
*/
kernel void k(global int *a)
{
    local int t[128];
    int i = get_local_id(0);
    t[i] = a[i];
    t[i + 64] = a[i + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int size = 2; size <= 128; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            int lo = 2 * i - (i & (d - 1)), hi = lo + d;
            bool up = (lo & size) == 0;
            int x = t[lo], y = t[hi]; // <-
            if ((x > y) == up) {
                t[lo] = y; // <-
                t[hi] = x; // <-
            }
#ifdef BUG
            if (d > 16)
#endif
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#ifdef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    a[i] = t[i];
    a[i + 64] = t[i + 64];
}
