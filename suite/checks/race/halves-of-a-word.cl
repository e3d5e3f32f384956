/* check
what = "two work-items set the halves of one word, each by a mask"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "iota:u32:64"
o = "zeros:u32:32"
*/
kernel void k(global const uint *a, global uint *o)
{
    local uint t[32];
    int l = get_local_id(0);
    if (l < 32) t[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    if (l & 1) t[l / 2] = (t[l / 2] & 0xffff) | a[l] << 16; // <-
    else t[l / 2] = (t[l / 2] & 0xffff0000) | a[l]; // <-
#else
    if (l & 1) ((local ushort *)t)[l] = a[l];
    else ((local ushort *)t)[l] = a[l];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 32) o[l] = t[l];
}
