/* check
what = "the slice behind the last one of an image of three dimensions"
finds = ["F0005"]
says = ", 3) of image p, which has 8 x 4 x 3, of r:f32"
global = [8, 4, 3]
local = [8, 1, 1]
absent.pvc = "the device has no images"
[args]
p = "image:3d:8,4,3:r:f32=rand:f32:96:1"
o = "zeros:f32:96"
*/
const sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
kernel void k(read_only image3d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
#ifdef BUG
    o[(z * 4 + y) * 8 + x] = read_imagef(p, at, (int4)(x, y, z + 1, 0)).x; // <-
#else
    o[(z * 4 + y) * 8 + x] = read_imagef(p, at, (int4)(x, y, min(z + 1, 2), 0)).x;
#endif
}
