/* check
what = "a counter of each group is cleared by the first work-item of all"
finds = ["F0006"]
global = [128]
local = [32]
[args]
a = "iota:i32:128"
o = "zeros:i32:4"
*/
kernel void k(global const int *a, global int *o)
{
    local int count;
#ifdef BUG
    if (get_global_id(0) == 0) count = 0;
#else
    if (get_local_id(0) == 0) count = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a[get_global_id(0)] % 3 == 0) atomic_inc(&count); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) o[get_group_id(0)] = count; // <-
}
