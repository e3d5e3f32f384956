/* check
what = "every work-item reads one element that is not there"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
b = "zeros:f32:64"
n = "64"
*/
kernel void k(global const float *a, global float *b, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i] = a[i] * a[n]; // <-
#else
    b[i] = a[i] * a[n - 1];
#endif
}
