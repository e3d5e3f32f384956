/* check
what = "a vector is read of what neighbours store as scalars"
finds = ["F0004", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[64];
    int i = get_local_id(0);
    t[i] = a[i]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (i < 16) {
        float4 v = vload4(i, t); // <-
        o[i] = dot(v, v); // <-
    }
}
