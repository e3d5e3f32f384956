/* check
what = "a group of 64 clears 64 of 256 bins"
finds = ["F0006"]
global = [64]
local = [64]
[args]
a = "rand:u8:64:7"
o = "zeros:u32:256"
*/
kernel void k(global const uchar *a, global uint *o)
{
    local uint bins[256];
    uint i = get_local_id(0);
#ifdef BUG
    if (i < 256) bins[i] = 0;
#else
    for (uint j = i; j < 256; j += 64) bins[j] = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[a[i]]); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = i; j < 256; j += 64) o[j] = bins[j]; // <-
}
