/* check
what = "the first work-item of each group decides whether it comes to a barrier, and the others by their own number"
finds = ["F0007", "F0018"]
global = [128]
local = [64]
[args]
a = "iota:i32:128"
o = "zeros:i32:128"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int l = get_local_id(0), g = get_global_id(0);
    t[l] = a[g];
#ifdef BUG
    if (a[g] < 32 + get_group_id(0) * 64) { // <-
#else
    if (a[get_group_id(0) * 64] < 64) {
#endif
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        o[g] = t[63 - l]; // <-
    } else {
        o[g] = t[l];
    }
}
