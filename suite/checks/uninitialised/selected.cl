/* check
what = "a scan of a part of a group uses elements that were never loaded"
finds = ["F0006"]
global = [64]
local = [64]
[args]
a = "rand:i32:64:4"
o = "zeros:i32:64"
n = "40"
*/
kernel void k(global const int *a, global int *o, int n)
{
    local int t[64];
    int i = get_local_id(0);
    if (i < n) t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = t[i]; // <-
    if (i >= 1) {
        int before = t[i - 1]; // <-
        if (i < n) v = before + v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    t[i] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    o[i] = t[i]; // <-
#else
    if (i < n) o[i] = t[i];
#endif
}
