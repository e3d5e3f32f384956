/* check
what = "of a particle's position the third component is never set"
finds = ["F0006", "F0002"]
global = [64]
local = [32]
[args]
a = "rand:f32:192:1"
p = "fresh:f32:512"
n = "zeros:i32:64"
*/
typedef struct { float4 position; float2 speed; int alive; } particle;
kernel void k(global const float *a, global particle *p, global int *n)
{
    int i = get_global_id(0);
    p[i].alive = 1;
    p[i].position.xy = vload2(0, a + 3 * i);
#ifndef BUG
    p[i].position.z = a[3 * i + 2];
#endif
    p[i].speed.x = 1;
    if (p[i].position.z > 0.5f) // <-
        n[i] = p[i].alive;
}
