/* check
what = "a tile is filled anew while it is still being copied out"
finds = ["F0026", "F0004"]
global = [32]
local = [32]
[args]
a = "rand:f32:128:3"
o = "zeros:f32:128"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[32];
    int i = get_local_id(0);
    event_t e = 0;
    for (int n = 0; n < 4; n++) {
#ifndef BUG
        if (n > 0) wait_group_events(1, &e); // <-
#endif
        t[i] = 2 * a[32 * n + i]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        e = async_work_group_copy(o + 32 * n, t, 32, 0); // <-
    }
    wait_group_events(1, &e);
}
