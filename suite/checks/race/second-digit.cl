/* check
what = "the second digit's counts are added to while others still scan the first digit's"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "rand:u32:64:9"
o = "zeros:u32:32"
*/
kernel void k(global const uint *a, global uint *o)
{
    local uint n[16];
    int l = get_local_id(0);
    for (int d = 0; d < 2; d++) {
        if (l < 16) n[l] = 0; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_inc(&n[a[l] >> (4 * d) & 15]); // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l >= 48) o[d * 16 + l - 48] = n[l - 48]; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
}
