/* check
what = "a queue's entries are taken before they were stored"
finds = ["F0004", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int queue[64], tail;
    int i = get_local_id(0);
    if (i == 0) tail = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int slot = -1;
    if (a[i] % 3 == 0) slot = atomic_inc(&tail);
#ifdef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
    int n = tail;
    if (slot >= 0) queue[slot] = i; // <-
#else
    if (slot >= 0) queue[slot] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int n = tail;
#endif
    o[i] = i < n ? queue[i] : -1; // <-
}
