/* check
what = "a sum of a group that is one sub-group, in a loop that ends at each work-item's own number"
finds = ["F0007"]
global = [32]
local = [8]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int g = get_global_id(0), s = 0;
#ifdef BUG
    for (int n = 0; n < a[g] % 5; n++) s += work_group_reduce_add(n + 1); // <-
#else
    for (int n = 0; n < 5; n++) s += work_group_reduce_add(n < a[g] % 5 ? n + 1 : 0);
#endif
    o[g] = s;
}
