/* check
what = "local counts are merged by the first work-items before the last ones have counted"
finds = ["F0004"]
global = [128]
local = [64]
[args]
a = "rand:u8:512:3"
bins = "zeros:u32:16"
*/
kernel void k(global const uchar *a, global uint *bins)
{
    local uint mine[16];
    int l = get_local_id(0);
    if (l < 16) mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = get_global_id(0); n < 512; n += 128) atomic_inc(&mine[a[n] & 15]); // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (l < 16 && mine[l]) atomic_add(&bins[l], mine[l]); // <-
}
