/* check
what = "the winner of an exchange reads a value that others may still exchange"
finds = ["F0004"]
global = [16]
local = [16]
[args]
o = "zeros:i32:17"
*/
kernel void k(global int *o)
{
    local int t;
    int i = get_local_id(0);
    if (i == 0) t = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // All others fail, and change nothing; unless they compare with what is there then.
#ifdef BUG
    int old = atomic_cmpxchg(&t, i, i + 1); // <-
    if (old == i) o[i] = t; // <-
#else
    int old = atomic_cmpxchg(&t, 0, i + 1);
    if (old == 0) o[i] = t;
#endif
}
