/* check
what = "a local array of thirty is read as eight vectors of four"
finds = ["F0005", "F0006"]
global = [32]
local = [32]
[args]
a = "rand:f32:32:3"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
#ifdef BUG
    local float t[30] __attribute__((aligned(16)));
#else
    local float t[32] __attribute__((aligned(16)));
#endif
    local float u[8];
    int i = get_local_id(0);
#ifdef BUG
    if (i < 30) t[i] = a[i];
#else
    t[i] = a[i];
#endif
    if (i < 8) u[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 v = ((local float4 *)t)[i & 7]; // <-
    o[i] = v.x + v.y + v.z + v.w + u[i & 7];
}
