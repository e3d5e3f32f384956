/* check
what = "a continue around a barrier"
finds = ["F0007", "F0018"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0), s = 0;
    for (int j = 0; j < 4; j++) {
#ifdef BUG
        if (a[i] + j == 7) continue;
#endif
        t[i] = a[i] + j;
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        s += t[63 - i];
        barrier(CLK_LOCAL_MEM_FENCE); // <-
    }
    o[i] = s;
}
