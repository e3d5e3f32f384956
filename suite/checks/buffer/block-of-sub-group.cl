/* check
what = "a sub-group reads a block behind the end"
finds = ["F0001", "F0005"]
global = [64]
local = [32]
[args]
a = "iota:u32:60"
o = "zeros:u32:64"
*/
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const uint *a, global uint *o)
{
    int i = get_global_id(0), first = i & ~15;
#ifdef BUG
    o[i] = intel_sub_group_block_read(a + first); // <-
#else
    o[i] = first < 48 ? intel_sub_group_block_read(a + first) : i < 60 ? a[i] : 0;
#endif
}
