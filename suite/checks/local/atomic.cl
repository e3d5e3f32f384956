/* check
what = "an atomic on local memory behind its end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
d = "rand:u32:64:5"
h = "zeros:u32:16"
*/
kernel void k(global const uint *d, global uint *h)
{
    local uint c[16];
    int i = get_local_id(0);
    if (i < 16) c[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    atomic_inc(c + d[i] % 20); // <-
#else
    atomic_inc(c + d[i] % 16);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16) h[i] = c[i];
}
