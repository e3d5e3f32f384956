/* check
what = "a place is reserved for the sub-group by its lowest work-item, and the others take the old value of their own"
finds = ["F0006", "F0004", "F0003"]
global = [32]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:32"
n = "zeros:i32:1"
o = "zeros:i32:32"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void k(global const int *a, global int *n, global int *o)
{
    int g = get_global_id(0), base;
    if (get_sub_group_local_id() == 0) base = atomic_add(n, (int)get_sub_group_size());
#ifndef BUG
    base = sub_group_broadcast(base, 0);
#endif
    o[base + get_sub_group_local_id()] = a[g]; // <-
}
