/* check
what = "two reductions use the same tile one after the other"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:1"
o = "zeros:f32:128"
*/
float sum(local float *t, float x)
{
    int i = get_local_id(0);
    t[i] = x; // <-
    for (int s = 32; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < s) t[i] += t[i + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return t[0]; // <-
}
kernel void k(global const float *a, global float *o)
{
    local float t[64];
    int i = get_global_id(0);
    float mean = sum(t, a[i]) / 64;
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[2 * i] = mean;
    o[2 * i + 1] = sum(t, (a[i] - mean) * (a[i] - mean)) / 64;
}
