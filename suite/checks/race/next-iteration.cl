/* check
what = "a ping-pong buffer without the barrier of the next round"
finds = ["F0004"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[2][32];
    int i = get_local_id(0), from = 0;
    t[0][i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < 4; r++) {
        t[1 - from][i] = t[from][(i + 5) & 31] + t[from][i]; // <-
        from = 1 - from;
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    o[i] = t[from][31 - i];
}
