/* check
what = "the last work-items store behind the buffer"
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
    a[i + 4] = i; // <-
#else
    if (i + 4 < 64) a[i + 4] = i;
#endif
}
