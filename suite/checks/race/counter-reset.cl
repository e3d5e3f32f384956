/* check
what = "a counter is reset plainly by the work-item that finds it full, while others count"
finds = ["F0004"]
global = [64]
local = [32]
[args]
count = "zeros:i32:1"
o = "zeros:i32:64"
*/
kernel void k(global int *count, global int *o)
{
    int place = atomic_inc(count); // <-
#ifdef BUG
    if (place == 31) *count = 0; // <-
#else
    if (place == 31) atomic_xchg(count, 0);
#endif
    o[get_global_id(0)] = 1;
}
