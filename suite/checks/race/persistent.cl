/* check
what = "a group that fetches its work takes the next piece while some have not read which one this was"
finds = ["F0004"]
global = [64]
local = [32]
[args]
next = "zeros:i32:1"
o = "zeros:i32:256"
*/
kernel void k(global int *next, global int *o)
{
    local int piece;
    int i = get_local_id(0);
    for (;;) {
        if (i == 0) piece = atomic_inc(next); // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        int p = piece; // <-
#ifndef BUG
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (p >= 8) break;
        o[p * 32 + i] = p;
    }
}
