/* check
what = "a group broadcasts from an index that differs within it"
finds = ["F0007", "F0003"]
global = [64]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_local_id(0);
#ifdef BUG
    o[get_global_id(0)] = work_group_broadcast(a[get_global_id(0)], i & 1); // <-
#else
    o[get_global_id(0)] = work_group_broadcast(a[get_global_id(0)], 1);
#endif
}
