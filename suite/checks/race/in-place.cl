/* check
what = "a stencil in place"
finds = ["F0004"]
global = [128]
local = [128]
[args]
a = "iota:f32:128"
*/
kernel void k(global float *a)
{
    int i = get_local_id(0);
    float x = i < 127 ? a[i + 1] : 0; // <-
#ifndef BUG
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    a[i] = 2 * x; // <-
}
