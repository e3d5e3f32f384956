/* check
what = "an index so wrong that it leads into another buffer"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
b = "zeros:i32:65536"
*/
kernel void k(global int *a, global int *b)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i + 32768] = i; // <-
#else
    a[i] = i;
#endif
    b[i] = i;
}
