/* check
what = "a local argument that is too small"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
t = "local:192"
*/
kernel void k(global float *a, local float *t)
{
    int i = get_local_id(0);
#ifdef BUG
    t[i] = a[i]; // <-
#else
    t[i % 48] = a[i % 48];
#endif
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    a[i] = t[i % 48] + 1;
}
