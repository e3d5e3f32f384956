/* check
what = "the corners of a tile come from loads behind the barrier"
finds = ["F0004", "F0006"]
global = [16, 16]
local = [8, 8]
[args]
a = "iota:f32:324"
o = "zeros:f32:256"
*/
#define W 18
kernel void k(global const float *a, global float *o)
{
    local float t[10][10];
    int x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);
    t[y + 1][x + 1] = a[(gy + 1) * W + gx + 1];
    if (x == 0) t[y + 1][0] = a[(gy + 1) * W + gx];
    if (x == 7) t[y + 1][9] = a[(gy + 1) * W + gx + 2];
    if (y == 0) t[0][x + 1] = a[gy * W + gx + 1];
    if (y == 7) t[9][x + 1] = a[(gy + 2) * W + gx + 1];
#ifdef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (x == 1 && y == 1) t[0][0] = a[gy * W + gx]; // <-
    if (x == 6 && y == 1) t[0][9] = a[gy * W + gx + 2]; // <-
    if (x == 0 && y == 7) t[9][0] = a[(gy + 2) * W + gx]; // <-
    if (x == 7 && y == 7) t[9][9] = a[(gy + 2) * W + gx + 2]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    float s = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            s += t[y + j][x + i]; // <-
    o[gy * 16 + gx] = s / 9;
}
