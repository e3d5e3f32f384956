/* check
what = "a broadcast in a branch, from a work-item that does not take it"
finds = ["F0007"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_local_id(0), v = a[i] * 3 + 1;
#ifdef BUG
    if (get_sub_group_local_id() > 0) o[i] = sub_group_broadcast(v, 0); // <-
#else
    int f = sub_group_broadcast(v, 0);
    if (get_sub_group_local_id() > 0) o[i] = f;
#endif
}
