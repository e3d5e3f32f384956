/* check
what = "the leader of a group reserves a place that the others read without a barrier"
finds = ["F0004", "F0006", "F0002"]
global = [128]
local = [64]
[args]
count = "zeros:i32:1"
o = "zeros:i32:128"
*/
kernel void k(global int *count, global int *o)
{
    local int base;
    int i = get_local_id(0);
    if (i == 0) base = atomic_add(count, 64); // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[(base + i) & 127] = i; // <-
}
