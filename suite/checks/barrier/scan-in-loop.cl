/* check
what = "a scan of the group in a loop that ends by each work-item's own number"
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
    int i = get_local_id(0), s = 0;
#ifdef BUG
    for (int n = 0; n < a[i] % 4; n++)
#else
    for (int n = 0; n < 4; n++)
#endif
        s += work_group_scan_inclusive_add(n + i); // <-
    o[i] = s;
}
