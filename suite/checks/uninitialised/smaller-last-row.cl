/* check
what = "groups of the last row are smaller, and a tree sums as many as the others have"
finds = ["F0006"]
global = [16, 12]
local = [16, 8]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:192"
o = "zeros:i32:2"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[128];
    int l = get_local_linear_id();
    t[l] = a[get_global_linear_id()];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    int n = get_enqueued_local_size(0) * get_enqueued_local_size(1);
#else
    int n = get_local_size(0) * get_local_size(1);
#endif
    for (int s = n / 2; s > 0; s /= 2) {
        if (l < s) t[l] += t[l + s]; // <-
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) o[get_group_id(1)] = t[0];
}
