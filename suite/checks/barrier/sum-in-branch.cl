/* check
what = "a sum over the group is asked for by a part of the group"
finds = ["F0007", "F0018"]
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
    o[i] = a[i] < 40 ? work_group_reduce_add(a[i]) : 0; // <-
#else
    int sum = work_group_reduce_add(a[i]);
    o[i] = a[i] < 40 ? sum : 0;
#endif
}
