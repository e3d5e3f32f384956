/* check
what = "a component of a vector that was never written"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
    float4 v;
    v.x = a[i];
    v.y = i;
    v.z = 2;
#ifndef BUG
    v.w = 0;
#endif
    o[i] = dot(v, v); // <-
}
