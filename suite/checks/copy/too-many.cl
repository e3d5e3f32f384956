/* check
what = "a copy of more elements than the tile has"
finds = ["F0005", "F0004"]
global = [32]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    local int x[32], y[32];
    int i = get_local_id(0);
    y[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    event_t e = async_work_group_copy(x, a, 33, 0); // <-
#else
    event_t e = async_work_group_copy(x, a, 32, 0);
#endif
    wait_group_events(1, &e);
    o[i] = x[31 - i] + y[i];
}
