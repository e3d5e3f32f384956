/* check
what = "a strided copy that reads past the end of its buffer"
finds = ["F0005", "F0001"]
global = [32]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:32"
s = "3"
*/
kernel void k(global const int *a, global int *o, int s)
{
    local int x[32];
    int i = get_local_id(0);
#ifndef BUG
    s = 2;
#endif
    event_t e = async_work_group_strided_copy(x, a, 32, s, 0); // <-
    wait_group_events(1, &e);
    o[i] = x[31 - i];
}
