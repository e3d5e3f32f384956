/* check
what = "the least int is negated"
finds = ["F0028"]
hints = true
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
n = "-2147483648"
*/
kernel void k(global int *a, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = n < 0 ? -n : n; // <-
#else
    a[i] = (int)abs(n);
#endif
}
