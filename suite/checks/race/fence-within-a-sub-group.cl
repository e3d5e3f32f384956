/* check
what = "a fence in place of a barrier, in groups that one thread runs"
finds = ["F0004"]
says = "t["
global = [32]
local = [8]
[args]
a = "rand:f32:32:3"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[9];
    int i = get_local_id(0);
    t[i] = a[get_global_id(0)]; // <-
    if (i == 0) t[8] = 0; // <-
#ifdef BUG
    mem_fence(CLK_LOCAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[get_global_id(0)] = t[i] + t[i + 1]; // <-
}
