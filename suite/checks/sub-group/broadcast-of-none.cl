/* check
what = "a sub-group broadcasts the value of the work-item behind its last one"
finds = ["F0005"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0);
#ifdef BUG
    int last = sub_group_broadcast(a[g] + 1, get_sub_group_size()); // <-
#else
    int last = sub_group_broadcast(a[g] + 1, get_sub_group_size() - 1);
#endif
    o[g] = last;
}
