/* check
what = "one half of a group waits for a volatile flag that the other half sets behind a fence"
finds = ["F0004", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[32];
    local volatile int ready;
    int l = get_local_id(0);
    if (l == 0) ready = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 32) {
        t[l] = a[l];
        mem_fence(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
        if (l == 31) ready = 1; // <-
#endif
    }
#ifdef BUG
    if (l >= 32) { if (ready) o[l] = t[l - 32]; } // <-
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l >= 32) o[l] = t[l - 32];
#endif
}
