/* check
what = "a test of one bit of a word in which only other bits were set"
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
    if (i < 32) t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint flags = t[i]; // <-
    flags = (flags & ~0xf0u) | (a[i] & 0xf) << 4;
#ifdef BUG
    o[i] = (flags >> 9 & 1) ? a[i] : 7; // <-
#else
    o[i] = (flags >> 6 & 1) ? a[i] : 7;
#endif
}
