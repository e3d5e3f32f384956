/* check
what = "the third element of a vector of three that was given two"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "rand:f32:256:4"
o = "zeros:f32:256"
*/
kernel void k(global const float3 *a, global float3 *o)
{
    int i = get_global_id(0);
    float3 v = a[i];
    float3 w;
    w.x = v.y;
    w.y = v.x;
#ifndef BUG
    w.z = v.z * 2;
#endif
    o[i] = w; // <-
}
