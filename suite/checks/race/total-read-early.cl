/* check
what = "the last work-item reads a total to which the others still add"
finds = ["F0004"]
global = [128]
local = [128]
[args]
d = "rand:u32:128:5"
n = "zeros:u32:1"
o = "zeros:u32:129"
*/
kernel void k(global const uint *d, global uint *n, global uint *o)
{
    int i = get_global_id(0);
    if (d[i] & 1) {
        uint at = atomic_inc(n); // <-
        o[at] = d[i];
    }
#ifndef BUG
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    if (i == 127) o[128] = *n; // <-
}
