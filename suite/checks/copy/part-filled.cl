/* check
what = "a tile is copied out asynchronously, and its last row was never filled"
finds = ["F0006"]
global = [32]
local = [32]
[args]
a = "iota:i32:96"
o = "zeros:i32:128"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[4][32];
    int l = get_local_id(0);
#ifdef BUG
    for (int r = 0; r < 3; r++) t[r][l] = a[r * 32 + l];
#else
    for (int r = 0; r < 4; r++) t[r][l] = r < 3 ? a[r * 32 + l] : 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy(o, &t[0][0], 128, 0); // <-
    wait_group_events(1, &e);
}
