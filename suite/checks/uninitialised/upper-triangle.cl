/* check
what = "of a private matrix the lower triangle is set, and the whole is used"
finds = ["F0002", "F0006"]
global = [16]
local = [16]
[args]
a = "iota:f32:160"
o = "zeros:f32:16"
n = "4"
*/
kernel void k(global const float *a, global float *o, int n)
{
    float m[4][4];
    int i = get_global_id(0);
    for (int y = 0; y < n; y++)
        for (int x = 0; x <= y; x++) {
            m[y][x] = a[i + y * n + x];
#ifndef BUG
            m[x][y] = m[y][x];
#endif
        }
    float s = 0;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            s += m[y][x] * x; // <-
    o[i] = s;
}
