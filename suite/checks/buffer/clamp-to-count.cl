/* check
what = "an index is clamped to the number of elements"
finds = ["F0005", "F0001"]
global = [64]
local = [32]
[args]
a = "rand:f32:64:1"
o = "zeros:f32:64"
n = "64"
*/
kernel void k(global const float *a, global float *o, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = 0.5f * (a[clamp(i - 1, 0, n)] + a[clamp(i + 1, 0, n)]); // <-
#else
    o[i] = 0.5f * (a[clamp(i - 1, 0, n - 1)] + a[clamp(i + 1, 0, n - 1)]);
#endif
}
