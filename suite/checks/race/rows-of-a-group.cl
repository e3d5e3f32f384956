/* check
what = "a group of two dimensions keeps its values by the first one only"
finds = ["F0004"]
global = [32, 8]
local = [16, 4]
[args]
a = "rand:f32:256:3"
o = "zeros:f32:256"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[64];
    int x = get_local_id(0), y = get_local_id(1), g = get_global_id(1) * 32 + get_global_id(0);
#ifdef BUG
    t[x] = a[g]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = t[15 - x];
#else
    t[y * 16 + x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = t[y * 16 + 15 - x];
#endif
}
