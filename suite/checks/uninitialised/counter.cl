/* check
what = "a local counter that starts uninitialised"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "zeros:u32:1"
d = "rand:u32:64:1"
*/
kernel void k(global uint *a, global const uint *d)
{
    local uint count;
    int i = get_local_id(0);
#ifndef BUG
    if (i == 0) count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (d[i] & 1) atomic_inc(&count); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) a[0] = count;
}
