/* check
what = "the halo of a tile is read before its loads are done"
finds = ["F0004"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[34];
    int i = get_local_id(0), g = get_global_id(0), n = get_global_size(0);
    t[i + 1] = a[g];
#ifndef BUG
    if (i == 1) t[0] = g > 1 ? a[g - 2] : 0;
    if (i == 30) t[33] = g + 2 < n ? a[g + 2] : 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    if (i == 1) t[0] = g > 1 ? a[g - 2] : 0; // <-
    if (i == 30) t[33] = g + 2 < n ? a[g + 2] : 0; // <-
#endif
    o[g] = t[i] + t[i + 1] + t[i + 2]; // <-
}
