/* check
what = "eight halves are loaded at a place that counts halves and not vectors"
finds = ["F0001", "F0005"]
global = [16]
local = [16]
[args]
a = "zeros:f16:128"
o = "zeros:f32:16"
*/
kernel void k(global const half *a, global float *o)
{
    int g = get_global_id(0);
#ifdef BUG
    float8 v = vload_half8(g * 8, a); // <-
#else
    float8 v = vload_half8(g, a);
#endif
    o[g] = v.s0 + v.s7;
}
