/* check
what = "three of the four bytes of a union are set, and its word is stored"
finds = ["F0006"]
says = "private variable u"
global = [32]
local = [32]
[args]
a = "rand:u8:96"
o = "zeros:u32:32"
*/
kernel void k(global const uchar *a, global uint *o)
{
    int i = get_global_id(0);
    union {
        uchar b[4];
        uint w;
    } u;
    for (int n = 0; n < 3; ++n)
        u.b[n] = a[3 * i + n];
#ifdef BUG
    o[i] = u.w; // <-
#else
    o[i] = u.w & 0xffffff;
#endif
}
