/* check
what = "the last work-item to arrive sums up what others stored, without fences around the counter"
finds = ["F0004"]
global = [32]
local = [8]
[args]
a = "rand:f32:32:3"
o = "zeros:f32:4"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[8];
    local int n;
    int i = get_local_id(0);
    if (i == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[i] = a[get_global_id(0)]; // <-
#ifndef BUG
    mem_fence(CLK_LOCAL_MEM_FENCE);
#endif
    int before = atomic_inc(&n);
#ifndef BUG
    mem_fence(CLK_LOCAL_MEM_FENCE);
#endif
    if (before == 7) {
        float sum = 0;
        for (int j = 0; j < 8; j++) sum += t[j]; // <-
        o[get_group_id(0)] = sum;
    }
}
