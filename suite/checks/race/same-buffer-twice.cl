/* check
what = "a shift is given one buffer as its input and its output"
finds = ["F0004"]
global = [64]
local = [32]
[args]
a = "iota:f32:65"
o = "arg:a"
shift = "1"
*/
kernel void k(global const float *a, global float *o, int shift)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = a[i + shift]; // <-
#else
    o[i] = a[i] * shift;
#endif
}
