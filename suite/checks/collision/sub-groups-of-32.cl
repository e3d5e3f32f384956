/* check
what = "partial sums of sub-groups, which are taken for 32 wide"
finds = ["F0004", "F0003", "F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:1"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    local int part[4];
    int i = get_local_id(0);
    int s = sub_group_reduce_add(a[i]);
#ifdef BUG
    if (get_sub_group_local_id() == 0)
        part[i / 32] = s; // <-
    int n = 2;
#else
    if (get_sub_group_local_id() == 0)
        part[get_sub_group_id()] = s;
    int n = get_num_sub_groups();
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        int all = 0;
        for (int p = 0; p < n; p++)
            all += part[p];
        *o = all;
    }
}
