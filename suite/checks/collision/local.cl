/* check
what = "two work-items fill one element of local memory"
finds = ["F0003", "F0004"]
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
p = "rand:u32:64:8"
*/
kernel void k(global int *a, global const uint *p)
{
    local int t[64];
    int i = get_local_id(0);
    t[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    t[p[i] % 8] = i; // <-
#else
    t[i] = i;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[i];
}
