/* check
what = "the last group adds up what the others stored, and no fence stands beside the counter"
finds = ["F0004"]
global = [256]
local = [64]
[args]
a = "rand:f32:256:7"
part = "zeros:f32:4"
done = "zeros:u32:1"
sum = "zeros:f32:1"
*/
kernel void k(global const float *a, global float *part, global uint *done, global float *sum)
{
    local float t[64];
    local uint last;
    int i = get_local_id(0);
    t[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d >>= 1) {
        if (i < d) t[i] += t[i + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) {
        part[get_group_id(0)] = t[0]; // <-
#ifndef BUG
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
        last = atomic_inc(done) == get_num_groups(0) - 1;
#ifndef BUG
        mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && i == 0) {
        float s = 0;
        for (uint g = 0; g < get_num_groups(0); g++) s += part[g]; // <-
        *sum = s;
    }
}
