/* check
what = "two groups copy their tiles out to places that overlap"
finds = ["F0004", "F0003"]
global = [64]
local = [32]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[32];
    int l = get_local_id(0), g = get_group_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    event_t e = async_work_group_copy(o + g * 16, t, 32, 0); // <-
#else
    event_t e = async_work_group_copy(o + g * 32, t, 32, 0);
#endif
    wait_group_events(1, &e);
}
