/* check
what = "signed texels are read as unsigned ones"
finds = ["F0027"]
says = "integers without signs of image p"
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:r:i32=iota:i32:128"
o = "zeros:u32:128"
*/
kernel void k(read_only image2d_t p, global uint *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#ifdef BUG
    o[y * 16 + x] = read_imageui(p, s, (int2)(x, y)).x; // <-
#else
    o[y * 16 + x] = read_imagei(p, s, (int2)(x, y)).x;
#endif
}
