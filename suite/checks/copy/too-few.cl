/* check
what = "fewer elements are copied in than are used"
finds = ["F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "rand:f32:32:4"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[32];
    int i = get_local_id(0);
#ifdef BUG
    event_t e = async_work_group_copy(t, a, 31, 0);
#else
    event_t e = async_work_group_copy(t, a, 32, 0);
#endif
    wait_group_events(1, &e);
    o[i] = 2 * t[31 - i]; // <-
}
