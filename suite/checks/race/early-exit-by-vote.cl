/* check
what = "work-items leave a loop around a barrier by a flag that others still set"
finds = ["F0004", "F0007", "F0018", "F0003"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int done;
    int i = get_local_id(0);
    if (i == 0)
        done = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int n = 0;
    for (; n < 8; n++) {
        if (n == 3 && a[i] == 27)
            done = 1; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        if (done) // <-
            break;
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        o[i] = n;
    }
}
