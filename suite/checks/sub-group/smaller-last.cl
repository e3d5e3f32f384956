/* check
what = "of the last sub-group, which is smaller, some leave before a maximum is asked for"
finds = ["F0007"]
global = [80]
local = [40]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:80"
o = "zeros:i32:80"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    if (get_local_id(0) >= 38) return;
#else
    if (get_group_id(0) > 1) return;
#endif
    o[i] = sub_group_reduce_max(a[i]) + sub_group_broadcast(a[i], get_sub_group_size() - 1); // <-
}
