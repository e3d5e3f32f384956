/* check
what = "a copy is added to an event that nothing set"
finds = ["F0026", "F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "rand:f32:64:3"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[32], u[32];
    int i = get_local_id(0);
#ifdef BUG
    event_t e;
    async_work_group_copy(t, a, 32, 0); // <-
    e = async_work_group_copy(u, a + 32, 32, 0);
#else
    event_t e = async_work_group_copy(t, a, 32, 0);
    e = async_work_group_copy(u, a + 32, 32, e);
#endif
    wait_group_events(1, &e);
    o[i] = t[i] + u[31 - i]; // <-
}
