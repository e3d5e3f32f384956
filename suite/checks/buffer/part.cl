/* check
what = "behind the part of a buffer that the kernel was given"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
whole = "zeros:f32:64"
a = "arg:whole+128"
*/
kernel void k(global float *whole, global float *a)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = i; // <-
#else
    if (i < 32) a[i] = i;
#endif
    if (i == 0) whole[0] = 1;
}
