/* check
what = "an asynchronous copy out of local memory without a wait"
finds = ["F0026"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0);
    t[i] = a[63 - i];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy(o, t, 64, 0); // <-
#ifndef BUG
    wait_group_events(1, &e);
#endif
}
