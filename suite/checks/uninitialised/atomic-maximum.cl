/* check
what = "a local maximum is found by atomics and was never set"
finds = ["F0006"]
global = [64]
local = [32]
[args]
a = "rand:i32:64:5"
o = "zeros:i32:2"
*/
kernel void k(global const int *a, global int *o)
{
    local int best;
#ifndef BUG
    if (get_local_id(0) == 0) best = INT_MIN;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(&best, a[get_global_id(0)]); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) o[get_group_id(0)] = best; // <-
}
