/* check
what = "the first work-item clears a counter that all others of its sub-group change at once"
finds = ["F0004"]
global = [8]
local = [8]
[args]
n = "zeros:i32:1"
*/
kernel void k(global int *n)
{
    if (get_local_id(0) == 0) *n = 0; // <-
#ifndef BUG
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    atomic_inc(n); // <-
}
