/* check
what = "x and y exchanged in a picture that is not square"
finds = ["F0005"]
global = [32, 8]
local = [32, 2]
absent.pvc = "the device has no images"
[args]
img = "image:2d:32,8:r:u32=zeros:u32:256"
*/
kernel void k(write_only image2d_t img)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    write_imageui(img, (int2)(y, x), (uint4)(x)); // <-
#else
    write_imageui(img, (int2)(x, y), (uint4)(x));
#endif
}
