/* check
what = "a tile without room for its right halo"
finds = ["F0005", "F0004"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
#ifdef BUG
    local int t[33], u[4];
#else
    local int t[34], u[4];
#endif
    int i = get_local_id(0), g = get_global_id(0);
    u[i & 3] = 1;
    t[i + 1] = a[g];
    if (i == 0) t[0] = a[g];
    if (i == 31) t[33] = a[g]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = t[i] + t[i + 2] + u[i & 3]; // <-
}
