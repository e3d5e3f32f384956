/* check
what = "an asynchronous copy counts floats where its type is a vector of four"
finds = ["F0005", "F0001"]
global = [32]
local = [32]
[args]
a = "iota:f32:128"
o = "zeros:f32:32"
*/
kernel void k(global const float4 *a, global float *o)
{
    local float4 t[32];
    int i = get_local_id(0);
#ifdef BUG
    event_t e = async_work_group_copy(t, a, 128, 0); // <-
#else
    event_t e = async_work_group_copy(t, a, 32, 0);
#endif
    wait_group_events(1, &e);
    o[i] = t[31 - i].x;
}
