/* check
what = "one local argument written over into the next"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
s = "local:256"
t = "local:256"
*/
kernel void k(global float *a, local float *s, local float *t)
{
    int i = get_local_id(0);
    t[i] = 0;
#ifdef BUG
    s[i + 1] = a[i]; // <-
#else
    s[i] = a[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = s[max(i, 1)] + t[i];
}
