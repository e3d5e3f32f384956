/* check
what = "four bytes are combined, and the last one was never written"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "rand:u8:256:4"
o = "zeros:u32:64"
*/
kernel void k(global const uchar *a, global uint *o)
{
    local uchar t[256];
    int i = get_local_id(0);
    t[4 * i] = a[4 * i];
    t[4 * i + 1] = a[4 * i + 1];
    t[4 * i + 2] = a[4 * i + 2];
#ifndef BUG
    t[4 * i + 3] = a[4 * i + 3];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    int n = 63 - i;
    uint word = t[4 * n] | t[4 * n + 1] << 8 | t[4 * n + 2] << 16 | (uint)t[4 * n + 3] << 24; // <-
    o[i] = word > 0x80000000u ? 1 : 2; // <-
}
