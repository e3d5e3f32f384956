/* check
what = "blocks that sub-groups write overlap"
finds = ["F0003", "F0004"]
global = [64]
local = [32]
[args]
a = "iota:u32:64"
o = "zeros:u32:80"
*/
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const uint *a, global uint *o)
{
    int i = get_global_id(0);
#ifdef BUG
    int first = i / 16 * 12;
#else
    int first = i / 16 * 16;
#endif
    intel_sub_group_block_write(o + first, a[i]); // <-
}
