/* check
what = "a row is normalised by its sum, which the first work-item stores where the row still stands"
finds = ["F0004"]
global = [64]
local = [32]
[args]
m = "rand:f32:64:4"
*/
kernel void k(global float *m)
{
    local float sum;
    int l = get_local_id(0), r = get_group_id(0) * 32;
    if (l == 0) {
        float s = 0;
        for (int j = 0; j < 32; j++) s += m[r + j]; // <-
        sum = s; // <-
    }
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
    m[r + l] /= sum; // <-
}
