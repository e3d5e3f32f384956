/* check
what = "one of several arrays by a number that is one too large"
finds = ["F0005", "F0025", "F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    int x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
    int i = get_global_id(0);
    int *p = a[i] & 1 ? x : y;
    x[a[i] & 3] = a[i];
    y[a[i] & 3] = -a[i];
#ifdef BUG
    o[i] = p[(a[i] & 3) + 1]; // <-
#else
    o[i] = p[a[i] & 3];
#endif
}
