/* check
what = "a macro reads signed texels as unsigned ones in the branch of an #ifdef that counts"
finds = ["F0027"]
says = "integers without signs of image p"
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:r:i16=iota:i16:128"
o = "zeros:i32:128"
*/
#ifdef BUG
#define TEXEL(x, y) read_imageui(p, s, (int2)(x, y)).x
#else
#define TEXEL(x, y) read_imagei(p, s, (int2)(x, y)).x
#endif
kernel void k(read_only image2d_t p, global int *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    o[y * 16 + x] = TEXEL(x, y); // <-
}
