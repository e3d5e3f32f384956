/* check
what = "a tile is read transposed before all have filled it"
finds = ["F0004"]
global = [16, 16]
local = [16, 16]
[args]
a = "iota:i32:256"
o = "zeros:i32:256"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[16][17];
    int x = get_local_id(0), y = get_local_id(1);
    t[y][x] = a[y * 16 + x]; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    o[y * 16 + x] = t[x][y]; // <-
}
