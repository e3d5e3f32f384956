/* check
what = "the last two floats become halves behind the buffer"
finds = ["F0001", "F0005"]
global = [32]
local = [32]
[args]
a = "rand:f32:64:2"
h = "zeros:f16:63"
*/
kernel void k(global const float *a, global half *h)
{
    int i = get_global_id(0);
#ifdef BUG
    vstore_half2(vload2(i, a), i, h); // <-
#else
    if (i < 31) vstore_half2(vload2(i, a), i, h);
    else vstore_half(a[62], 62, h);
#endif
}
