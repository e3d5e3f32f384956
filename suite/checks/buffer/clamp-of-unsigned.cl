/* check
what = "an index without a sign is clamped at zero after it went below"
finds = ["F0005", "F0001"]
global = [64]
local = [32]
[args]
a = "rand:f32:64:2"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    uint x = get_global_id(0), n = get_global_size(0);
#ifdef BUG
    uint left = max(x - 1, 0u);
#else
    uint left = max(x, 1u) - 1;
#endif
    o[x] = a[left] + a[min(x + 1, n - 1)]; // <-
}
