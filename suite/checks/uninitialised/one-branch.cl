/* check
what = "a variable that is written in one branch only"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    int f;
#else
    int f = 1;
#endif
    if (a[i] & 1) f = 3;
    o[i] = a[i] * f; // <-
}
