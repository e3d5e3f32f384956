/* check
what = "an atomic behind the end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
d = "rand:u32:64:3"
h = "zeros:u32:16"
*/
kernel void k(global const uint *d, global uint *h)
{
#ifdef BUG
    atomic_inc(h + d[get_global_id(0)] % 32); // <-
#else
    atomic_inc(h + d[get_global_id(0)] % 16);
#endif
}
