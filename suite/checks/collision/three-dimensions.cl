/* check
what = "groups of three dimensions number their work-items by two of them"
finds = ["F0003", "F0004"]
global = [4, 4, 4]
local = [4, 4, 2]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[32];
    int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
#ifdef BUG
    int l = x + 4 * y;
#else
    int l = x + 4 * (y + 4 * z);
#endif
    int g = get_global_id(0) + 4 * (get_global_id(1) + 4 * get_global_id(2));
    t[l] = a[g]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = t[l ^ 1]; // <-
}
