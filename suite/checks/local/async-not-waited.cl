/* check
what = "the data of an asynchronous copy is used before the wait for it"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "rand:i32:64:4"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(t, a, 64, 0); // <-
#ifndef BUG
    wait_group_events(1, &e);
#endif
    o[i] = t[63 - i]; // <-
}
