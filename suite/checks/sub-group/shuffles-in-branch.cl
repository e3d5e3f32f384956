/* check
what = "a sum in a branch, where a shuffle among those who take it would do"
finds = ["F0007"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    if (get_sub_group_local_id() < 2) {
#ifdef BUG
        o[i] = sub_group_reduce_add(a[i]); // <-
#else
        o[i] = a[i] + intel_sub_group_shuffle_xor(a[i], 1);
#endif
    }
}
