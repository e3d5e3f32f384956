/* check
what = "a local histogram without atomics"
finds = ["F0004", "F0003"]
global = [128]
local = [128]
[args]
d = "rand:u32:128:6"
h = "zeros:u32:16"
*/
kernel void k(global const uint *d, global uint *h)
{
    local uint c[16];
    int i = get_local_id(0);
    if (i < 16) c[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    c[d[i] % 16] += i + 1; // <-
#else
    atomic_add(c + d[i] % 16, i + 1);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16) h[i] = c[i];
}
