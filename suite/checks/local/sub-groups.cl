/* check
what = "one sum for each sub-group, of which there are more than the width that was assumed gives"
finds = ["F0005", "F0004"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:1"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
#ifdef BUG
    local int sums[64 / 32];
#else
    local int sums[64 / 16];
#endif
    int i = get_local_id(0);
    int s = sub_group_reduce_add(a[i]);
    if (get_sub_group_local_id() == 0) sums[get_sub_group_id()] = s; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        int all = 0;
        for (int n = 0; n < get_num_sub_groups(); n++) all += sums[n]; // <-
        o[0] = all;
    }
}
