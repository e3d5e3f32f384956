/* check
what = "a block of the sub-group is written by those who have something to write"
finds = ["F0007"]
global = [64]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:u32:64"
o = "zeros:u32:64"
*/
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const uint *a, global uint *o)
{
    int i = get_global_id(0), first = i & ~15;
#ifdef BUG
    if (a[i] % 5 != 0) intel_sub_group_block_write(o + first, a[i]); // <-
#else
    if (sub_group_any(a[i] % 5 != 0)) intel_sub_group_block_write(o + first, a[i]);
#endif
}
