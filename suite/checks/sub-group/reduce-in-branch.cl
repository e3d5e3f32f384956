/* check
what = "a sum of a sub-group in a branch that a part takes"
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
    int i = get_local_id(0);
#ifdef BUG
    if (a[i] % 3 == 0) o[i] = sub_group_reduce_add(a[i]); // <-
#else
    int s = sub_group_reduce_add(a[i] % 3 == 0 ? a[i] : 0);
    if (a[i] % 3 == 0) o[i] = s;
#endif
}
