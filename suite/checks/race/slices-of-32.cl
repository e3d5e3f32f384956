/* check
what = "slices of 32 are summed with barriers of sub-groups of 16"
finds = ["F0004", "F0006"]
global = [128]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:128"
o = "zeros:i32:4"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const int *a, global int *o)
{
    local int t[64];
    int l = get_local_id(0), g = get_global_id(0);
    t[l] = a[g];
#ifdef BUG
    const int width = 32;
#else
    const int width = 16;
#endif
    int w = l % width;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = width / 2; s > 0; s /= 2) {
        int v = w < s ? t[l + s] : 0; // <-
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        if (w < s) t[l] += v; // <-
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (w == 0) atomic_add(&o[g / 32], t[l]);
}
