/* check
what = "a local array of 33 bytes is written to its 34th, which is padding"
finds = ["F0005", "F0001"]
global = [32]
local = [32]
[args]
a = "iota:u8:34"
o = "zeros:i32:32"
*/
kernel void k(global const uchar *a, global int *o)
{
    local uchar t[33];
    local int n;
    int l = get_local_id(0);
    if (l == 0) n = 3;
    t[l] = a[l];
#ifdef BUG
    if (l == 31) t[l + 2] = a[33]; // <-
#else
    if (l == 31) t[l + 1] = a[33];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[l] = t[l] + t[32] * n;
}
