/* check
what = "the total of a scan goes into an array that has no place for it"
finds = ["F0005", "F0001"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:66"
*/
kernel void k(global const int *a, global int *o)
{
#ifdef BUG
    local int s[32];
#else
    local int s[33];
#endif
    int l = get_local_id(0), g = get_global_id(0);
    if (l == 0) s[0] = 0;
    s[l + 1] = a[g]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 32; d *= 2) {
        int v = l + 1 > d ? s[l + 1 - d] : 0; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
        s[l + 1] += v; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    o[get_group_id(0) * 33 + l] = s[l];
    if (l == 31) o[get_group_id(0) * 33 + 32] = s[32]; // <-
}
