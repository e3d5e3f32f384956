/* check
what = "a texel below the last row"
finds = ["F0005"]
says = ", 16) of image img, which has 16 x 16, of r:f32"
global = [16, 16]
local = [16, 4]
absent.pvc = "the device has no images"
[args]
img = "image:2d:16,16:r:f32=zeros:f32:256"
b = "zeros:f32:256"
*/
kernel void k(read_only image2d_t img, global float *b)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    b[y * 16 + x] = read_imagef(img, (int2)(x, y + 1)).x; // <-
#else
    b[y * 16 + x] = read_imagef(img, (int2)(x, y)).x;
#endif
}
