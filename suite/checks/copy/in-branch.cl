/* check
what = "a copy that one work-item starts"
finds = ["F0007"]
global = [32]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    local int x[32];
    int i = get_local_id(0);
#ifdef BUG
    if (i == 0)
#endif
    {
        event_t e = async_work_group_copy(x, a, 32, 0); // <-
        wait_group_events(1, &e); // <-
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = x[31 - i];
}
