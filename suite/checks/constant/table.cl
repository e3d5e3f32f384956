/* check
what = "an index past a table of constants"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
o = "zeros:i32:64"
*/
constant int before[4] = { 9, 9, 9, 9 };
constant int table[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
constant int after[4] = { 9, 9, 9, 9 };
kernel void k(global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = table[i & 15] + before[i & 3] + after[i & 3]; // <-
#else
    o[i] = table[i & 7] + before[i & 3] + after[i & 3];
#endif
}
