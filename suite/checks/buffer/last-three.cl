/* check
what = "triples are read of a buffer whose count is no multiple of three"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
a = "iota:f32:47"
o = "zeros:f32:16"
n = "47"
*/
kernel void k(global const float *a, global float *o, int n)
{
    int g = get_global_id(0);
#ifdef BUG
    int last = (n + 2) / 3;
#else
    int last = n / 3;
#endif
    if (g < last) {
        float3 v = vload3(g, a); // <-
        o[g] = v.x + v.y * v.z;
    }
}
