/* check
what = "a NaN is converted to a byte"
finds = ["F0023"]
hints = true
global = [64]
local = [64]
[args]
a = "iota:f32:64"
b = "zeros:u8:64"
*/
kernel void k(global const float *a, global uchar *b)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i] = (uchar)(a[i] / a[i]); // <-
#else
    b[i] = (uchar)((a[i] + 1) / (a[i] + 1));
#endif
}
