/* check
what = "a tile of three dimensions is filled with x and z exchanged"
finds = ["F0005", "F0006"]
global = [16, 4, 4]
local = [8, 4, 2]
options = "-cl-std=CL2.0"
[args]
a = "rand:f32:256:2"
o = "zeros:f32:256"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[2][4][8];
    int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
#ifdef BUG
    t[x][y][z] = a[get_global_linear_id()]; // <-
#else
    t[z][y][x] = a[get_global_linear_id()];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_linear_id()] = t[z][y][x]; // <-
}
