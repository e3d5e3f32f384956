/* check
what = "an index without a value"
finds = ["F0002", "F0006", "F0005", "F0001"]
says = "private variable i"
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
#ifdef BUG
    int i; // <-
#else
    int i = get_global_id(0);
#endif
    o[i] = a[i] + 1; // <-
}
