/* check
what = "the last three of a local tile are read one element past its end"
finds = ["F0005", "F0006"]
global = [32]
local = [32]
[args]
a = "iota:f32:96"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[95 + 1];
    int l = get_local_id(0);
    for (int n = l; n < 96; n += 32) t[n] = a[n];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    float3 v = vload3(0, t + 3 * l + 1); // <-
#else
    float3 v = vload3(l, t);
#endif
    o[l] = v.x + v.y + v.z;
}
