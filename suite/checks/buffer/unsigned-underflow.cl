/* check
what = "an unsigned index that wraps around below zero"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:64"
b = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *b)
{
    uint i = get_global_id(0);
#ifdef BUG
    uint j = i - 3;
#else
    uint j = i < 3 ? 0 : i - 3;
#endif
    b[i] = a[j]; // <-
}
