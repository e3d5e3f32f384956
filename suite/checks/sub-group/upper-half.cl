/* check
what = "the upper half of a sub-group asks for a sum of all of it"
finds = ["F0007"]
global = [128]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:128"
o = "zeros:i32:128"
*/
#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
__attribute__((intel_reqd_sub_group_size(32)))
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    if (get_sub_group_local_id() >= 16) o[i] = sub_group_reduce_add(a[i]); // <-
#else
    if (get_sub_group_id() & 1) o[i] = sub_group_reduce_add(a[i]);
#endif
}
