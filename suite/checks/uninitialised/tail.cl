/* check
what = "the tail of a tile that is only loaded in part"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "iota:f32:50"
b = "zeros:f32:64"
n = "50"
*/
kernel void k(global const float *a, global float *b, int n)
{
    local float t[64];
    int i = get_local_id(0);
    if (i < n) t[i] = a[i];
#ifndef BUG
    else t[i] = 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0;
    for (int j = 0; j < 64; j++)
        s += t[j]; // <-
    b[i] = s;
}
