/* check
what = "a texel behind the right edge"
finds = ["F0005"]
says = "texel (16, "
global = [16, 16]
local = [16, 4]
absent.pvc = "the device has no images"
[args]
img = "image:2d:16,16:r:f32=zeros:f32:256"
*/
kernel void k(write_only image2d_t img)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    write_imagef(img, (int2)(x + 1, y), (float4)(1)); // <-
#else
    write_imagef(img, (int2)(x, y), (float4)(1));
#endif
}
