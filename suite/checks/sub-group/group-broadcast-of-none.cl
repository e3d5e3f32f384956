/* check
what = "a group broadcasts the value of the work-item behind its last one"
finds = ["F0006", "F0007", "F0001", "F0005", "F0003"]
global = [64]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0);
#ifdef BUG
    int total = work_group_broadcast(a[g] * 2, get_local_size(0)); // <-
#else
    int total = work_group_broadcast(a[g] * 2, get_local_size(0) - 1);
#endif
    o[g] = a[g] - total;
}
