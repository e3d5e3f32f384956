/* check
what = "a scan with two buffers that reads the one it writes"
finds = ["F0004", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
t = "local:512"
*/
kernel void k(global const float *a, global float *o, local float *t)
{
    int i = get_local_id(0), n = get_local_size(0);
    int pout = 0, pin = 1;
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < n; d *= 2) {
        pout = 1 - pout;
#ifdef BUG
        pin = pout;
#else
        pin = 1 - pout;
#endif
        if (i >= d)
            t[pout * n + i] = t[pin * n + i] + t[pin * n + i - d]; // <-
        else
            t[pout * n + i] = t[pin * n + i]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[i] = t[pout * n + i]; // <-
}
