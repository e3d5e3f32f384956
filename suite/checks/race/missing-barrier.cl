/* check
what = "a reduction without a barrier after its loads"
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
    t[i] = a[i]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (i == 0) {
        float s = 0;
        for (int j = 0; j < 128; j++)
            s += t[j]; // <-
        b[0] = s;
    }
}
