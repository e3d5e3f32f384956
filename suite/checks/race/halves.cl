/* check
what = "a scan between two halves of a buffer that are never exchanged"
finds = ["F0004"]
global = [128]
local = [64]
[args]
a = "rand:i32:128:5"
o = "zeros:i32:128"
t = "local:512"
*/
kernel void k(global const int *a, global int *o, local int *t)
{
    int i = get_local_id(0), n = get_local_size(0);
    int from = 0, to = 1;
    t[i] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < n; d *= 2) {
        t[to * n + i] = t[from * n + i] + (i >= d ? t[from * n + i - d] : 0); // <-
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
        from = to;
#else
        from = to;
        to = 1 - to;
#endif
    }
    o[get_global_id(0)] = t[from * n + i];
}
