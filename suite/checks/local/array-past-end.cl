/* check
what = "a local array written behind its end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
*/
kernel void k(global float *a)
{
    local float t[64];
    int i = get_local_id(0);
#ifdef BUG
    t[i + 8] = a[i]; // <-
#else
    t[i] = a[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[63 - i > 8 ? 63 - i : 8];
}
