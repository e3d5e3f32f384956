/* check
what = "an accumulator that was never cleared"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
d = "rand:u32:64:4"
h = "fresh:u32:16"
*/
kernel void k(global const uint *d, global uint *h)
{
    int i = get_local_id(0);
#ifndef BUG
    if (i < 16) h[i] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    atomic_add(h + d[i] % 16, 1); // <-
}
