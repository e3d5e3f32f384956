/* check
what = "a bit is set in the last byte of four, which nothing wrote"
finds = ["F0006"]
global = [64]
local = [64]
[args]
a = "iota:u8:64"
o = "fresh:u8:256"
*/
kernel void k(global const uchar *a, global uchar4 *o)
{
    int i = get_global_id(0);
    o[i].xyz = (uchar3)(a[i], a[i] + 1, a[i] + 2);
#ifndef BUG
    o[i].w = 0;
#endif
    o[i].w |= 1 << (a[i] & 7); // <-
}
