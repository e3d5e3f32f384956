/* check
what = "a column too many of a buffer of rows"
finds = ["F0005", "F0004"]
global = [16, 8]
local = [16, 8]
[args]
m = "zeros:i32:136"
o = "zeros:i32:136"
*/
kernel void k(global int (*m)[17], global int *o)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    m[y][x + 2] = x; // <-
#else
    m[y][x + 1] = x;
#endif
}
