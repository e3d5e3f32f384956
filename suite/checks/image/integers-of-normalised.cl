/* check
what = "the bytes of a picture are read as integers, though its channels are normalised"
finds = ["F0027"]
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:rgba:unorm8=iota:u8:512"
o = "zeros:i32:128"
*/
kernel void k(read_only image2d_t p, global int *o)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    o[16 * y + x] = read_imageui(p, (int2)(x, y)).x; // <-
#else
    o[16 * y + x] = (int)(255 * read_imagef(p, (int2)(x, y)).x);
#endif
}
