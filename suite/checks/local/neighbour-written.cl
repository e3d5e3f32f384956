/* check
what = "a local array written over its end into the next one"
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
    y[i] = 1;
    x[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    x[i + 8] = a[i]; // <-
#else
    x[(i + 8) & 63] = a[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = x[i] + y[63 - i];
}
