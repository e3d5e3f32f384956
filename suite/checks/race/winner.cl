/* check
what = "the winner of an exchange sets a local variable that the others read at once"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int taken, who;
    int l = get_local_id(0);
    if (l == 0) { taken = 0; who = -1; }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a[l] > 40 && atomic_cmpxchg(&taken, 0, 1) == 0) who = l; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[l] = who; // <-
}
