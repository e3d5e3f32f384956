/* check
what = "work-items exchange the addresses of private arrays by local memory"
finds = ["F0006", "F0004", "F0005", "F0002", "F0001"]
options = "-cl-std=CL2.0"
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local ulong where[64];
    int own[4], i = get_local_id(0);
    for (int j = 0; j < 4; j++) own[j] = a[i] * j;
    where[i] = (ulong)(uintptr_t)own;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    int *p = (int *)(uintptr_t)where[(i + 1) % 64];
#else
    int *p = (int *)(uintptr_t)where[i];
#endif
    o[i] = p[2]; // <-
}
