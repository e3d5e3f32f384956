/* check
what = "a number taken for a pointer"
finds = ["F0001"]
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
*/
kernel void k(global int *a)
{
    int i = get_global_id(0);
#ifdef BUG
    *(global int *)(ulong)(0x7000 + 4 * i) = i; // <-
#else
    a[i] = i;
#endif
}
