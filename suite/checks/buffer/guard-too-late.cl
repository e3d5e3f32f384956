/* check
what = "the value is looked at before the index"
finds = ["F0005", "F0001"]
global = [80]
local = [16]
[args]
a = "iota:i32:64"
o = "zeros:i32:80"
n = "64"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int i = get_global_id(0), k = i;
#ifdef BUG
    while (a[k] != 0 && k < n) // <-
#else
    while (k < n && a[k] != 0)
#endif
        k++;
    o[i] = k;
}
