/* check
what = "a guard by select, which evaluates both"
finds = ["F0005", "F0001"]
global = [96]
local = [32]
[args]
a = "rand:f32:80:1"
o = "zeros:f32:96"
n = "80"
*/
kernel void k(global const float *a, global float *o, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    volatile float x = a[i]; // <-
    o[i] = select(0.0f, x, i < n);
#else
    o[i] = i < n ? a[i] : 0.0f;
#endif
}
