/* check
what = "the mark of no neighbour is taken as an index"
finds = ["F0005", "F0001"]
global = [64]
local = [16]
[args]
next = "fill:i32:64:-1"
v = "rand:f32:64:3"
o = "zeros:f32:64"
*/
kernel void k(global const int *next, global const float *v, global float *o)
{
    uint i = get_global_id(0);
    int n = next[i];
#ifdef BUG
    float s = v[n]; // <-
    o[i] = n >= 0 ? s : v[i];
#else
    o[i] = n >= 0 ? v[n] : v[i];
#endif
}
