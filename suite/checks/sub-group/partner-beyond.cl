/* check
what = "a partner by exclusive or lies beyond a smaller sub-group"
finds = ["F0002", "F0006"]
global = [40]
local = [40]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:40"
o = "zeros:i32:40"
*/
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0), x = a[i];
#ifdef BUG
    int y = intel_sub_group_shuffle_xor(x, 8); // <-
#else
    int y = intel_sub_group_shuffle_xor(x, 4);
#endif
    o[i] = x + y; // <-
}
