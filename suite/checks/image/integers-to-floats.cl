/* check
what = "integers are written to an image of floats"
finds = ["F0027"]
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:r:f32=zeros:f32:128"
*/
kernel void k(write_only image2d_t p)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    write_imagei(p, (int2)(x, y), (int4)(x + y)); // <-
#else
    write_imagef(p, (int2)(x, y), (float4)(x + y));
#endif
}
