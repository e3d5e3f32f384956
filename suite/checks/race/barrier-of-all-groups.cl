/* check
what = "a barrier is taken for one of all groups between two steps of a relaxation"
finds = ["F0004"]
global = [64]
local = [16]
[args]
a = "iota:f32:66"
b = "zeros:f32:66"
*/
kernel void k(global float *a, global float *b)
{
    int i = get_global_id(0) + 1;
    b[i] = 0.5f * (a[i - 1] + a[i + 1]); // <-
#ifdef BUG
    barrier(CLK_GLOBAL_MEM_FENCE);
    a[i] = 0.5f * (b[i - 1] + b[i + 1]); // <-
#endif
}
