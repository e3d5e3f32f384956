/* check
what = "a local argument before its start"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
s = "local:256"
*/
kernel void k(global float *a, local float *s)
{
    int i = get_local_id(0);
    s[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    a[i] = s[i] - s[i - 1]; // <-
#else
    a[i] = s[i] - s[max(i - 1, 0)];
#endif
}
