/* check
what = "the range is rounded up to whole groups and nothing guards the end"
finds = ["F0005", "F0001"]
global = [128]
local = [64]
[args]
a = "iota:f32:100"
b = "zeros:f32:100"
n = "100"
*/
kernel void k(global const float *a, global float *b, int n)
{
    int i = get_global_id(0);
#ifndef BUG
    if (i >= n) return;
#endif
    b[i] = 2 * a[i]; // <-
}
