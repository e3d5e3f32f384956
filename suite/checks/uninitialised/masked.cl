/* check
what = "bits that nothing set decide which way it goes"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "rand:u32:64:4"
o = "zeros:u32:64"
*/
kernel void k(global const uint *a, global uint *o)
{
    local uint t[64];
    int i = get_local_id(0);
    if (i & 1) t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint x = t[i]; // <-
#ifdef BUG
    uint mask = i & 2 ? 0xff : 0;
#else
    uint mask = i & 1 ? 0xff : 0;
#endif
    o[i] = (x & mask) > 7 ? 3 : a[i]; // <-
}
