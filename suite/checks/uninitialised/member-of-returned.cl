/* check
what = "a function returns a ray of which it sets no length where it hits nothing"
finds = ["F0006"]
global = [32]
local = [32]
[args]
a = "iota:f32:32"
o = "zeros:f32:32"
*/
struct ray { float3 at; float length; int hit; };
struct ray cast(float x)
{
    struct ray r;
    r.at = (float3)(x, 0, 1);
    r.hit = x > 10;
    if (r.hit) r.length = x - 10;
#ifndef BUG
    else r.length = 0;
#endif
    return r;
}
kernel void k(global const float *a, global float *o)
{
    int g = get_global_id(0);
    struct ray r = cast(a[g]);
    o[g] = r.at.x + r.length; // <-
}
