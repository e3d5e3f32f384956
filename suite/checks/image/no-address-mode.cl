/* check
what = "a texel outside of the picture, with a sampler that does not define it"
finds = ["F0005"]
says = "texel (32, "
global = [32, 32]
local = [16, 4]
absent.pvc = "the device has no images"
[args]
img = "image:2d:32,32:r:f32=zeros:f32:1024"
o = "zeros:f32:1024"
*/
kernel void k(read_only image2d_t img, global float *o)
{
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    o[y * 32 + x] = read_imagef(img, s, (int2)(x + 1, y)).x; // <-
#else
    o[y * 32 + x] = read_imagef(img, s, (int2)(min(x + 1, 31), y)).x;
#endif
}
