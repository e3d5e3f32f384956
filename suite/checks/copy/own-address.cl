/* check
what = "each work-item starts a copy of its own"
finds = ["F0026"]
global = [32]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    local int x[64];
    int i = get_local_id(0);
#ifdef BUG
    event_t e = async_work_group_copy(x + i, a + i, 1, 0); // <-
#else
    event_t e = async_work_group_copy(x, a, 32, 0);
#endif
    wait_group_events(1, &e);
    o[i] = x[31 - i]; // <-
}
