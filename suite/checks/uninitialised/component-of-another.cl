/* check
what = "one work-item sets the first components, and copies the whole to a neighbour's"
finds = ["F0006"]
global = [64]
local = [32]
[args]
a = "rand:f32:64:1"
o = "fresh:f32:128"
p = "zeros:f32:128"
*/
kernel void k(global const float *a, global float2 *o, global float2 *p)
{
    int i = get_global_id(0);
    o[i].x = a[i];
#ifndef BUG
    o[i].y = -a[i];
#endif
    p[i].x = o[i].y; // <-
    p[i].y = o[i].x;
}
