/* check
what = "a minimum that starts uninitialised"
finds = ["F0002", "F0006"]
says = "private variable m"
global = [64]
local = [64]
[args]
a = "iota:i32:256"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    int m;
#else
    int m = 0x7fffffff;
#endif
    for (int j = 0; j < 4; j++)
        if (a[4 * i + j] < m) m = a[4 * i + j]; // <-
    o[i] = m; // <-
}
