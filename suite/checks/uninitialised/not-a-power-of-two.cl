/* check
what = "a tree of sums takes a group of 48 for one of 64"
finds = ["F0006", "F0002"]
global = [48]
local = [48]
[args]
a = "rand:f32:48:1"
o = "zeros:f32:1"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[64];
    int i = get_local_id(0);
    t[i] = a[i];
#ifndef BUG
    if (i < 16) t[48 + i] = 0;
#endif
    for (int s = 32; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < s) t[i] += t[i + s]; // <-
    }
    if (i == 0) o[0] = t[0]; // <-
}
