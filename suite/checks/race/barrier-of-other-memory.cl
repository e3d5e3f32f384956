/* check
what = "the barrier of a tree of sums in local memory orders global memory"
finds = ["F0004"]
global = [128]
local = [64]
[args]
a = "rand:f32:128:3"
s = "zeros:f32:2"
w = "local:256"
*/
kernel void k(global const float *a, global float *s, local float *w)
{
    int i = get_local_id(0), n = get_local_size(0);
    w[i] = a[get_global_id(0)]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = n / 2; d > 0; d >>= 1) {
        if (i < d) w[i] += w[i + d]; // <-
#ifdef BUG
        barrier(CLK_GLOBAL_MEM_FENCE);
#else
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    if (i == 0) s[get_group_id(0)] = w[0]; // <-
}
