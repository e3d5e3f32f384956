/* check
what = "the element before the first of a ring, by a remainder that keeps its sign"
finds = ["F0005", "F0001"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
n = "32"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = a[(i - 1) % n] + a[(i + 1) % n]; // <-
#else
    o[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
#endif
}
