/* check
what = "a stencil reads its left neighbour before the start"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
b = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *b)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i] = a[i] - a[i - 1]; // <-
#else
    b[i] = a[i] - a[max(i - 1, 0)];
#endif
}
