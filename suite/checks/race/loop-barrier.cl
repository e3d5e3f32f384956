/* check
what = "a tile is overwritten while others still read it"
finds = ["F0004"]
global = [128]
local = [128]
[args]
a = "iota:f32:512"
b = "zeros:f32:128"
*/
kernel void k(global const float *a, global float *b)
{
    local float t[128];
    int i = get_local_id(0);
    float s = 0;
    for (int k = 0; k < 4; k++) {
        t[i] = a[128 * k + i]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        s += t[127 - i]; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    b[i] = s;
}
