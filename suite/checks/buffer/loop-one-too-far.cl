/* check
what = "a loop runs to n inclusively"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:i32:32"
b = "zeros:i32:64"
n = "32"
*/
kernel void k(global const int *a, global int *b, int n)
{
    int s = 0;
#ifdef BUG
    for (int j = 0; j <= n; j++)
#else
    for (int j = 0; j < n; j++)
#endif
        s += a[j] * j; // <-
    b[get_global_id(0)] = s;
}
