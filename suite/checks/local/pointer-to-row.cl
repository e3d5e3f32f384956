/* check
what = "a helper takes a pointer to rows of 17 where the tile has rows of 16"
finds = ["F0005", "F0001", "F0006"]
global = [16, 4]
local = [16, 4]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
#ifdef BUG
#define WIDE 17
#else
#define WIDE 16
#endif
float corner(local float (*t)[WIDE], int x, int y)
{
    return t[y][x] + t[3][15]; // <-
}
kernel void k(global const float *a, global float *o)
{
    local float t[4][16];
    int x = get_local_id(0), y = get_local_id(1);
    t[y][x] = a[y * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[y * 16 + x] = corner((local float (*)[WIDE])t, x, y); // <-
}
