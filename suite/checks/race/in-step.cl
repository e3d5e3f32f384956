/* check
what = "a shift in place inside of one thread"
finds = ["F0004"]
global = [8]
local = [8]
[args]
a = "iota:i32:8"
t = "local:32"
*/
kernel void k(global int *a, local int *t)
{
    int i = get_local_id(0);
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = t[(i + 1) & 7]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    t[i] = x + 1; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[i];
}
