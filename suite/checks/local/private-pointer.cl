/* check
what = "a pointer into a private array that a loop counts too far"
finds = ["F0005", "F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
n = "9"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int v[8], w[4] = {1, 2, 3, 4};
    int i = get_global_id(0), s = 0;
    int *p = v;
#ifndef BUG
    n = 8;
#endif
    for (int j = 0; j < n; j++) *p++ = a[(i + j) & 63]; // <-
    for (int j = 0; j < 8; j++) s += v[j];
    o[i] = s + w[i & 3];
}
