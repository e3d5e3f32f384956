/* check
what = "two copies start, and the wait names one event"
finds = ["F0004", "F0026"]
global = [64]
local = [32]
[args]
a = "iota:f32:64"
b = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global const float *b, global float *o)
{
    local float s[32], t[32];
    event_t e[2];
    int l = get_local_id(0), first = get_group_id(0) * 32;
    e[0] = async_work_group_copy(s, a + first, 32, 0);
    e[1] = async_work_group_copy(t, b + first, 32, 0); // <-
#ifdef BUG
    wait_group_events(1, e);
#else
    wait_group_events(2, e);
#endif
    o[first + l] = s[l] + t[31 - l]; // <-
}
