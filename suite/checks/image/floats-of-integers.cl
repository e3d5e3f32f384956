/* check
what = "a sampler's floats are read of an image of integers"
finds = ["F0027"]
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:r:u32=iota:u32:128"
o = "zeros:f32:128"
*/
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void k(read_only image2d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    o[16 * y + x] = read_imagef(p, nearest, (int2)(x, y)).x; // <-
#else
    o[16 * y + x] = read_imageui(p, nearest, (int2)(x, y)).x;
#endif
}
