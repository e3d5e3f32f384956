/* check
what = "a value is broadcast by a work-item that never set it"
finds = ["F0006", "F0002"]
global = [64]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0), x;
#ifdef BUG
    if (i & 1) x = a[i];
    int y = sub_group_broadcast(x, 2);
#else
    if (!(i & 1)) x = a[i];
    int y = sub_group_broadcast(x, 2);
#endif
    o[i] = y + 1; // <-
}
