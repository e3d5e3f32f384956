/* check
what = "a hit's distance is set only if there is one"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:1:-1..1"
o = "zeros:f32:64"
*/
typedef struct { int hit; float t; float3 n; } hit;
hit cast(float x)
{
    hit h;
    h.hit = x > 0;
    if (h.hit) {
        h.t = sqrt(x);
        h.n = (float3)(x, 0, 0);
    }
#ifndef BUG
    else { h.t = 0; h.n = 0; }
#endif
    return h;
}
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
    hit h = cast(a[i]);
    o[i] = h.t * 2 + h.n.x; // <-
}
