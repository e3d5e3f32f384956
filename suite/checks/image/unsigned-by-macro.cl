/* check
what = "a macro reads signed texels as unsigned ones"
finds = ["F0027"]
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:17,8:r:i16=iota:i16:136"
o = "zeros:u32:128"
*/
#define UNSIGNED(x, y) read_imageui(p, s, (int2)(x, y)).x
#define SIGNED(x, y) read_imagei(p, s, (int2)(x, y)).x
kernel void k(read_only image2d_t p, global uint *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#ifdef BUG
    o[y * 16 + x] = UNSIGNED(x, y) + UNSIGNED(x + 1, y); // <-
#else
    o[y * 16 + x] = SIGNED(x, y) + SIGNED(x + 1, y);
#endif
}
