/* check
what = "a plain read of a counter that others still change"
finds = ["F0004"]
global = [128]
local = [128]
[args]
d = "rand:u32:128:6"
h = "zeros:u32:128"
*/
kernel void k(global const uint *d, global uint *h)
{
    local uint c;
    int i = get_local_id(0);
    if (i == 0) c = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&c, d[i] & 7); // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    h[i] = c; // <-
}
