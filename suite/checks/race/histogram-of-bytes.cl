/* check
what = "counts of eight bits in local memory are added to by several work-items"
finds = ["F0004", "F0003"]
global = [64]
local = [64]
[args]
a = "iota:u8:64"
o = "zeros:u8:16"
*/
kernel void k(global const uchar *a, global uchar *o)
{
#ifdef BUG
    local uchar h[16];
#else
    local uint h[16];
#endif
    int i = get_local_id(0);
    if (i < 16)
        h[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    h[a[i] & 15]++; // <-
#else
    atomic_inc(&h[a[i] & 15]);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 16)
        o[i] = h[i];
}
