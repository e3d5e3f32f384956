/* check
what = "the row above the first one is read"
finds = ["F0005"]
says = ", -1) of image p, which has 16 x 8"
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:rg:f32=iota:f32:256"
o = "zeros:f32:128"
*/
const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
kernel void k(read_only image2d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    o[y * 16 + x] = read_imagef(p, s, (int2)(x, y - 1)).x; // <-
#else
    o[y * 16 + x] = read_imagef(p, s, (int2)(x, max(y - 1, 0))).x;
#endif
}
