/* check
what = "elements of two bytes behind the end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "zeros:i16:32"
*/
kernel void k(global short *a)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = i; // <-
#else
    if (i < 32) a[i] = i;
#endif
}
