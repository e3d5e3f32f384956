/* check
what = "a scan by turns between two local arrays waits only at every second step"
finds = ["F0004", "F0006"]
global = [128]
local = [64]
[args]
a = "iota:f32:128"
o = "zeros:f32:128"
*/
kernel void k(global const float *a, global float *o)
{
    local float one[64], two[64];
    local float *from = one, *to = two;
    int l = get_local_id(0), n = 0;
    from[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 64; d *= 2, n++) {
        to[l] = from[l] + (l >= d ? from[l - d] : 0.0f); // <-
#ifdef BUG
        if (n % 2) barrier(CLK_LOCAL_MEM_FENCE);
#else
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        local float *t = from;
        from = to;
        to = t;
    }
    o[get_global_id(0)] = from[l];
}
