/* check
what = "an offset of the wrong sign"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
*/
kernel void k(global int *a)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i - 2] = i; // <-
#else
    if (i >= 2) a[i - 2] = i;
#endif
}
