/* check
what = "of two tables of constants the shorter one is read over its end"
finds = ["F0005", "F0001"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
constant int large[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
constant int small[5] = { 9, 8, 7, 6, 5 };
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    constant int *t = i & 1 ? small : large;
#ifdef BUG
    int n = a[i] % 8;
#else
    int n = a[i] % (i & 1 ? 5 : 8);
#endif
    o[i] = t[n]; // <-
}
