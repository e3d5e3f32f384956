/* check
what = "whoever makes the largest value larger stores its place plainly"
finds = ["F0003", "F0004"]
global = [128]
local = [32]
[args]
a = "rand:i32:128:7"
best = "zeros:i32:1"
place = "zeros:i32:1"
o = "zeros:i32:128"
*/
kernel void k(global const int *a, global int *best, global int *place, global int *o)
{
    int i = get_global_id(0), v = a[i] & 0xffff;
#ifdef BUG
    if (atomic_max(best, v) < v) *place = i; // <-
#else
    atomic_max(best, v << 8 | i);
#endif
    o[i] = v;
}
