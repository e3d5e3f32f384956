/* check
what = "a tile is overwritten after a barrier that does not order it"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "rand:i32:256:2"
b = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *b)
{
    local int t[64];
    int i = get_local_id(0), s = 0;
    for (int n = 0; n < 4; n++) {
        t[i] = a[64 * n + i]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        s += t[63 - i] * n; // <-
#ifdef BUG
        barrier(CLK_GLOBAL_MEM_FENCE);
#else
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    b[i] = s;
}
