/* check
what = "a scan of a sub-group in a loop of different lengths"
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
    int i = get_local_id(0), s = 0;
#ifdef BUG
    for (int n = 0; n < (a[i] & 3); n++) s += sub_group_scan_inclusive_add(a[i] + n); // <-
#else
    for (int n = 0; n < 3; n++) {
        int x = sub_group_scan_inclusive_add(a[i] + n);
        if (n < (a[i] & 3)) s += x;
    }
#endif
    o[i] = s;
}
