/* check
what = "a vote of a sub-group after some have returned"
finds = ["F0007"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
n = "50"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    if (i >= n) return;
    o[i] = sub_group_any(a[i] > 40); // <-
#else
    int x = sub_group_any(i < n && a[i] > 40);
    if (i < n) o[i] = x;
#endif
}
