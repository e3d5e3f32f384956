/* check
what = "a scan goes down its tree before all have gone up"
finds = ["F0004", "F0003"]
global = [64]
local = [64]
[args]
in = "iota:i32:128"
out = "zeros:i32:128"
*/
kernel void k(global const int *in, global int *out)
{
    local int temp[128];
    int thid = get_local_id(0), n = 128, offset = 1;
    temp[2 * thid] = in[2 * thid];
    temp[2 * thid + 1] = in[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai]; // <-
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0; // <-
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
#ifdef BUG
        if (d != 2)
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            int t = temp[ai]; // <-
            temp[ai] = temp[bi]; // <-
            temp[bi] += t; // <-
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[thid * 2] = temp[thid * 2];
    out[2 * thid + 1] = temp[2 * thid + 1];
}
