/* check
what = "a loop over the grid strides by the group's size"
finds = ["F0004", "F0003"]
global = [64]
local = [16]
[args]
a = "iota:f32:256"
n = "256"
*/
kernel void k(global float *a, int n)
{
#ifdef BUG
    for (int i = get_global_id(0); i < n; i += get_local_size(0))
#else
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
#endif
        a[i] = a[i] * 2 + 1; // <-
}
