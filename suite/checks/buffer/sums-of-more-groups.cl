/* check
what = "each group stores its sum, and there is room for fewer groups"
finds = ["F0005", "F0001"]
global = [256]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:256"
o = "zeros:i32:7"
*/
kernel void k(global const int *a, global int *o)
{
    int s = work_group_reduce_add(a[get_global_id(0)]);
#ifdef BUG
    if (get_local_id(0) == 0) o[get_group_id(0)] = s; // <-
#else
    if (get_local_id(0) == 0 && get_group_id(0) < 7) o[get_group_id(0)] = s;
#endif
}
