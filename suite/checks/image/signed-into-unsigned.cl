/* check
what = "signed numbers are written into an image of unsigned ones"
finds = ["F0027"]
says = "integers with signs of image p"
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:rgba:u8=zeros:u8:512"
*/
kernel void k(write_only image2d_t p)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    write_imagei(p, (int2)(x, y), (int4)(x - y)); // <-
#else
    write_imageui(p, (int2)(x, y), (uint4)(abs(x - y)));
#endif
}
