/* check
what = "a flag in global memory that every group sets to its own number"
finds = ["F0004"]
global = [256]
local = [64]
[args]
f = "zeros:i32:1"
*/
kernel void k(global int *f)
{
    int g = get_group_id(0);
#ifdef BUG
    if (get_local_id(0) == 0) f[0] = g; // <-
#else
    if (get_local_id(0) == 0) atomic_max(f, g);
#endif
}
