/* check
what = "a byte behind the end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "zeros:u8:63"
*/
kernel void k(global uchar *a)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = i; // <-
#else
    if (i < 63) a[i] = i;
#endif
}
