/* check
what = "the corners of a tile that no work-item loads"
finds = ["F0006"]
global = [16, 16]
local = [16, 16]
[args]
a = "iota:i32:256"
o = "zeros:i32:256"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[18][18];
    int x = get_local_id(0), y = get_local_id(1);
    t[y + 1][x + 1] = a[y * 16 + x];
    if (y == 0) { t[0][x + 1] = 0; t[17][x + 1] = 0; }
    if (x == 0) { t[y + 1][0] = 0; t[y + 1][17] = 0; }
#ifndef BUG
    if (x < 2 && y < 2) t[17 * y][17 * x] = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int v = 0; v < 3; v++)
        for (int u = 0; u < 3; u++) s += t[y + v][x + u]; // <-
    o[y * 16 + x] = s; // <-
}
