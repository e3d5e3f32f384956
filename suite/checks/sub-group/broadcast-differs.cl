/* check
what = "work-items of a sub-group broadcast from different ones"
finds = ["F0007"]
global = [64]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0), s = 0;
#ifdef BUG
    for (uint j = 0; j < 4; j++) s += sub_group_broadcast(a[i], j ^ (i & 1)); // <-
#else
    for (uint j = 0; j < 4; j++) s += sub_group_broadcast(a[i], j ^ (get_sub_group_id() & 1));
#endif
    o[i] = s;
}
