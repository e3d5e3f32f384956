/* check
what = "an elimination uses a pivot's row while it is being scaled"
finds = ["F0004"]
global = [16, 16]
local = [16, 16]
[args]
a = "rand:f32:256:1:1..5"
*/
kernel void k(global float *a)
{
    local float m[16][16];
    int x = get_local_id(0), y = get_local_id(1);
    m[y][x] = a[y * 16 + x] + (x == y ? 20.0f : 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 15; p++) {
        if (x == p && y > p) m[y][p] /= m[p][p]; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (x > p && y > p) m[y][x] -= m[y][p] * m[p][x]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[y * 16 + x] = m[y][x];
}
