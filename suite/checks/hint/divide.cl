/* check
what = "an integer divided by zero"
finds = ["F0021"]
hints = true
global = [64]
local = [64]
[args]
a = "iota:i32:64"
b = "iota:i32:64"
*/
kernel void k(global int *a, global const int *b)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = 1000 / b[i]; // <-
#else
    a[i] = b[i] == 0 ? 0 : 1000 / max(b[i], 1);
#endif
}
