/* check
what = "a barrier is missing between three stores of a row with its edges and three reads"
finds = ["F0004"]
one = true
global = [128]
local = [64]
[args]
a = "iota:f32:128"
o = "zeros:f32:128"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[66];
    int l = get_local_id(0), g = get_global_id(0);
    t[l + 1] = a[g]; // <-
    if (l == 0)
        t[0] = a[g]; // <-
    if (l == 63)
        t[65] = a[g]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    float x = t[l]; // <-
    x += t[l + 1]; // <-
    x += t[l + 2]; // <-
    o[g] = x;
}
