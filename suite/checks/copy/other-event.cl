/* check
what = "two copies, and the first one's event is waited for twice"
finds = ["F0004", "F0026"]
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
    event_t e[2];
    e[0] = async_work_group_copy(x, a, 32, 0);
    e[1] = async_work_group_copy(y, a + 32, 32, 0); // <-
    wait_group_events(1, &e[0]);
#ifdef BUG
    wait_group_events(1, &e[0]);
#else
    wait_group_events(1, &e[1]);
#endif
    o[i] = x[i] + y[31 - i]; // <-
}
