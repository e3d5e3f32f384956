/* check
what = "rows and columns exchanged in a buffer that is not square"
finds = ["F0005", "F0001"]
global = [16, 8]
local = [16, 4]
[args]
a = "iota:i32:128"
o = "zeros:i32:128"
*/
kernel void k(global const int *a, global int *o)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    o[x * 16 + y] = a[y * 16 + x]; // <-
#else
    o[y * 16 + x] = a[y * 16 + x];
#endif
}
