/* check
what = "a structure's member that is never set is used after a copy of the whole"
finds = ["F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
typedef struct { char kind; int value; short more; } item;
kernel void k(global const int *a, global int *o)
{
    local item t[32];
    int i = get_local_id(0);
    item x;
    x.kind = a[i];
    x.value = a[i] * 2;
#ifndef BUG
    x.more = 7;
#endif
    t[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    item y = t[31 - i];
    if (y.kind > 3)
        o[i] = y.value + y.more; // <-
}
