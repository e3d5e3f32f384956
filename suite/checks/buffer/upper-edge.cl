/* check
what = "the largest value falls behind the last bin"
finds = ["F0005", "F0001"]
global = [65]
local = [65]
[args]
a = "iota:f32:65"
o = "zeros:u32:16"
*/
kernel void k(global const float *a, global uint *o)
{
    int i = get_global_id(0);
#ifdef BUG
    int bin = (int)(a[i] / 64 * 16.0f);
#else
    int bin = min((int)(a[i] / 64 * 16.0f), 15);
#endif
    atomic_inc(&o[bin]); // <-
}
