/* check
what = "the last half of a pair is read where the count is odd"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
a = "rand:f16:31:4"
o = "zeros:f32:16"
*/
kernel void k(global const half *a, global float *o)
{
    int i = get_global_id(0);
#ifdef BUG
    float2 v = vload_half2(i, a); // <-
#else
    float2 v = i < 15 ? vload_half2(i, a) : (float2)(vload_half(30, a), 0);
#endif
    o[i] = v.x + v.y;
}
