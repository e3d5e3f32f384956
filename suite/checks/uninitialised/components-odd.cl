/* check
what = "of eight lanes the odd ones are set, and all are summed"
finds = ["F0002", "F0006"]
global = [32]
local = [32]
[args]
a = "iota:f32:128"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
    float8 v;
    v.odd = vload4(i, a);
#ifndef BUG
    v.even = 0;
#endif
    float4 s = v.lo + v.hi; // <-
    o[i] = s.x + s.y + s.z + s.w; // <-
}
