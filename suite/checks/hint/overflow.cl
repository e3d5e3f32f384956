/* check
what = "a sum of ints beyond the largest one"
finds = ["F0028"]
hints = true
global = [64]
local = [64]
[args]
a = "iota:i32:64"
n = "2147483600"
*/
kernel void k(global int *a, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = a[i] + n; // <-
#else
    a[i] = add_sat(a[i], n);
#endif
}
