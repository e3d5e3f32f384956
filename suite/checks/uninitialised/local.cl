/* check
what = "local memory summed that nothing wrote"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "zeros:f32:64"
*/
kernel void k(global float *a)
{
    local float t[64];
    int i = get_local_id(0);
#ifdef BUG
    if (i < 32)
#endif
        t[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[63 - i] + 1; // <-
}
