/* check
what = "local counters are cleared and counted without a barrier between"
finds = ["F0004"]
global = [256]
local = [128]
[args]
d = "rand:u32:256:6"
h = "zeros:u32:16"
*/
kernel void k(global const uint *d, global uint *h)
{
    local uint c[16];
    int i = get_local_id(0);
    if (i < 16) c[i] = 0; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    atomic_inc(&c[d[get_global_id(0)] & 15]); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16) atomic_add(&h[i], c[i]);
}
