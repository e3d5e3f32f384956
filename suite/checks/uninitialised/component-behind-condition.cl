/* check
what = "one component of a pixel is set where it is bright only, and all pixels are compared"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "iota:u8:256"
o = "fresh:u8:256"
n = "zeros:i32:1"
*/
kernel void k(global const uchar *a, global uchar4 *o, volatile global int *n)
{
    int i = get_global_id(0);
    o[i].x = a[4 * i];
    o[i].y = a[4 * i + 1];
    o[i].z = a[4 * i + 2];
#ifdef BUG
    if (a[4 * i] > 128)
#endif
        o[i].w = a[4 * i + 3];
    if (o[i].w > 100) // <-
        atomic_inc(n);
}
