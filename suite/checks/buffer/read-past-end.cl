/* check
what = "a stencil reads its right neighbour behind the end"
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
    b[i] = a[i] + a[i + 1]; // <-
#else
    b[i] = a[i] + a[min(i + 1, 63)];
#endif
}
