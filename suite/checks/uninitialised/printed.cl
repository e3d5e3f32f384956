/* check
what = "a value that nothing set is printed"
finds = ["F0006", "F0002"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
o = "zeros:i32:16"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    int x;
#else
    int x = 0;
#endif
    if (a[i] & 1) x = 2 * a[i];
    if (i < 3) printf("%d\n", x); // <-
    o[i] = i;
}
