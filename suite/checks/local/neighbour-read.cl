/* check
what = "a local array read over its end into the next one"
finds = ["F0005", "F0025"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:4"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    local float x[64];
    local float y[64];
    int i = get_local_id(0);
    x[i] = a[i];
    y[i] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    float s = x[i] + x[i + 1]; // <-
#else
    float s = x[i] + x[(i + 1) & 63];
#endif
    o[i] = s + y[63 - i];
}
