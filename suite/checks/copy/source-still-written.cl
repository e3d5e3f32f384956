/* check
what = "what is copied in is still being stored by the group"
finds = ["F0004"]
global = [32]
local = [32]
[args]
a = "zeros:f32:32"
o = "zeros:f32:32"
*/
kernel void k(global float *a, global float *o)
{
    local float t[32];
    int i = get_local_id(0);
    a[i] = i; // <-
#ifndef BUG
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    event_t e = async_work_group_copy(t, a, 32, 0); // <-
    wait_group_events(1, &e);
    o[i] = t[31 - i];
}
