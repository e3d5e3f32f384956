/* check
what = "each work-item broadcasts from an index of its own"
finds = ["F0007", "F0006", "F0004"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_local_id(0);
#ifdef BUG
    o[i] = work_group_broadcast(a[i], (i + 1) % 64); // <-
#else
    o[i] = work_group_broadcast(a[i], 1);
#endif
}
