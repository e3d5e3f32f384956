/* check
what = "local memory divided into two arrays; the second starts too far, because it counts bytes"
finds = ["F0005"]
global = [64]
local = [32]
[args]
a = "rand:f32:64:3"
o = "zeros:f32:64"
t = "local:256"
*/
kernel void k(global const float *a, global float *o, local float *t)
{
    int i = get_local_id(0), n = get_local_size(0);
    local float *x = t;
#ifdef BUG
    local float *y = t + n * sizeof(float);
#else
    local float *y = t + n;
#endif
    x[i] = a[get_global_id(0)];
    y[i] = 2 * a[get_global_id(0)]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = x[n - 1 - i] + y[(i + 1) % n]; // <-
}
