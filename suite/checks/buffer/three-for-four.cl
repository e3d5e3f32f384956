/* check
what = "an array of vectors of three is taken for one of twelve bytes each"
finds = ["F0001", "F0005"]
global = [16]
local = [16]
[args]
a = "rand:f32:48:1"
o = "zeros:f32:16"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
#ifdef BUG
    float3 v = ((global const float3 *)a)[i]; // <-
#else
    float3 v = vload3(i, a);
#endif
    o[i] = v.x + v.y + v.z;
}
