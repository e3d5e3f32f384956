/* check
what = "a shuffle in a branch reads work-items that do not take it"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    uint lane = get_sub_group_local_id();
    int y = 0;
#ifndef BUG
    int x = a[i] * 3;
    y = intel_sub_group_shuffle_xor(x, 1);
    if (lane & 1)
        o[i] = y;
#else
    if (lane & 1) {
        int x = a[i] * 3;
        y = intel_sub_group_shuffle_xor(x, 1); // <-
        o[i] = y; // <-
    }
#endif
}
