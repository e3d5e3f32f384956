/* check
what = "the next tile is copied over the one that is still read"
finds = ["F0004"]
global = [32]
local = [32]
[args]
a = "iota:i32:128"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    local int x[2][32];
    int i = get_local_id(0), s = 0;
    event_t e = async_work_group_copy(x[0], a, 32, 0);
    for (int b = 0; b < 4; b++) {
        wait_group_events(1, &e);
        if (b < 3)
#ifdef BUG
            e = async_work_group_copy(x[b & 1], a + 32 * (b + 1), 32, 0); // <-
#else
            e = async_work_group_copy(x[(b + 1) & 1], a + 32 * (b + 1), 32, 0);
#endif
        s += x[b & 1][31 - i]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[i] = s;
}
