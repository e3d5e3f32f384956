/* check
what = "the right halo of a tile lands one column too far"
finds = ["F0005", "F0004", "F0006"]
global = [32, 16]
local = [16, 8]
[args]
a = "rand:f32:512:3"
o = "zeros:f32:512"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[8][18];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    int w = get_global_size(0);
    t[ly][lx + 1] = a[y * w + x];
    if (lx == 0) t[ly][0] = a[y * w + max(x - 1, 0)];
#ifdef BUG
    if (lx == 15) t[ly][lx + 3] = a[y * w + min(x + 1, w - 1)]; // <-
#else
    if (lx == 15) t[ly][lx + 2] = a[y * w + min(x + 1, w - 1)];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[y * w + x] = t[ly][lx] + t[ly][lx + 1] + t[ly][lx + 2]; // <-
}
