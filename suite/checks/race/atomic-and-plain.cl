/* check
what = "a plain store beside atomics"
finds = ["F0004"]
global = [128]
local = [128]
[args]
d = "rand:u32:128:6"
h = "zeros:u32:2"
*/
kernel void k(global const uint *d, global uint *h)
{
    local uint c;
    int i = get_local_id(0);
#ifdef BUG
    c = 0; // <-
#else
    if (i == 0) c = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    atomic_add(&c, d[i] & 7); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) h[0] = c;
}
