/* check
what = "an int read through a pointer to bytes, at an odd address"
finds = ["F0010", "F0024"]
global = [32]
local = [32]
[args]
a = "rand:u8:256:4"
o = "zeros:i32:32"
*/
kernel void k(global const uchar *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = *(global const int *)(a + 5 * i); // <-
#else
    o[i] = a[5 * i] | a[5 * i + 1] << 8 | a[5 * i + 2] << 16 | a[5 * i + 3] << 24;
#endif
}
