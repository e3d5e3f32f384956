/* check
what = "an index that comes from a buffer"
finds = ["F0005", "F0001"]
global = [8]
local = [8]
[args]
x = "i32:5,3,9,64,2,77,1,0"
a = "iota:i32:64"
b = "zeros:i32:8"
*/
kernel void k(global const int *x, global const int *a, global int *b)
{
    int i = get_global_id(0);
    int at = x[i];
#ifdef BUG
    b[i] = a[at]; // <-
#else
    b[i] = at < 64 ? a[at] : 0;
#endif
}
