/* check
what = "a value is broadcast from work-item 31 of sub-groups of 16"
finds = ["F0005"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#ifdef BUG
#define LAST 31
#else
#define LAST 15
#endif
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0);
    o[g] = sub_group_broadcast(a[g] * 7, LAST); // <-
}
