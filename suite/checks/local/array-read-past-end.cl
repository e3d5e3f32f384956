/* check
what = "a local array read behind its end"
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
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    a[i] = t[i] + t[i + 1]; // <-
#else
    a[i] = t[i] + t[(i + 1) % 64];
#endif
}
