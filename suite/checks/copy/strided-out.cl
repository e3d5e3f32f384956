/* check
what = "columns of a tile are copied out with the stride of the whole matrix, one row too many"
finds = ["F0001", "F0005"]
global = [32]
local = [8]
[args]
o = "zeros:f32:128"
*/
kernel void k(global float *o)
{
    local float column[33];
    int l = get_local_id(0), c = get_group_id(0);
    for (int r = l; r < 33; r += 8) column[r] = r * 4 + c;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    event_t e = async_work_group_strided_copy(o + c, column, 33, 4, 0); // <-
#else
    event_t e = async_work_group_strided_copy(o + c, column, 32, 4, 0);
#endif
    wait_group_events(1, &e);
}
