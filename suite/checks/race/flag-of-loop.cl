/* check
what = "a flag that ends a loop is set again before all have looked at it"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int more;
    local int t[64];
    int i = get_local_id(0);
    t[i] = a[63 - i];
    for (int step = 0; step < 64; step++) {
        if (i == 0) more = 0; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        int l = 2 * i + (step & 1);
        if (i < 32 && l + 1 < 64 && t[l] > t[l + 1]) {
            int x = t[l];
            t[l] = t[l + 1];
            t[l + 1] = x;
            more = 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!more && step > 4) break; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    o[i] = t[i];
}
