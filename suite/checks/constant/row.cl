/* check
what = "a column too many of a constant table"
finds = ["F0005"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
o = "zeros:i32:16"
*/
constant int table[4][4] = { {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16} };
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = table[1][a[i] % 5]; // <-
#else
    o[i] = table[1][a[i] % 4];
#endif
}
