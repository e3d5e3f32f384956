/* check
what = "every work-item stores its own value as the result of the group"
finds = ["F0003", "F0004"]
global = [128]
local = [32]
[args]
a = "iota:i32:128"
o = "zeros:i32:4"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0), g = get_group_id(0);
#ifdef BUG
    o[g] = a[i]; // <-
#else
    if (get_local_id(0) == 0) o[g] = a[i];
#endif
}
