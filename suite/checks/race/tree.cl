/* check
what = "a tree of sums without a barrier in its loop"
finds = ["F0004"]
global = [128]
local = [128]
[args]
a = "iota:f32:128"
b = "zeros:f32:1"
*/
kernel void k(global const float *a, global float *b)
{
    local float t[128];
    int i = get_local_id(0);
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 64; n > 0; n /= 2) {
        if (i < n) t[i] += t[i + n]; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (i == 0) b[0] = t[0];
}
