/* check
what = "a vote of the group stands behind an and"
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
    int i = get_global_id(0), x = a[i], r = 0;
#ifdef BUG
    if (x > 40 && work_group_all(x < 64)) r = 1; // <-
#else
    int all = work_group_all(x < 64);
    if (x > 40 && all) r = 1;
#endif
    o[i] = r;
}
