/* check
what = "three of a pixel's four bytes are set, and the pixel is stored"
finds = ["F0006"]
says = "private variable p"
global = [64]
local = [32]
[args]
a = "rand:u8x4:64"
o = "zeros:u8x4:64"
*/
kernel void k(global const uchar4 *a, global uchar4 *o)
{
    int i = get_global_id(0);
    uchar4 p;
    p.x = a[i].z;
    p.y = a[i].y;
    p.z = a[i].x;
#ifndef BUG
    p.w = 255;
#endif
    o[i] = p; // <-
}
