/* check
what = "a layer that the array of pictures does not have is written"
finds = ["F0005", "F0001"]
global = [16, 8]
local = [8, 8]
absent.pvc = "the device has no images"
[args]
p = "image:2darray:16,8,3:r:f32=iota:f32:384"
a = "rand:f32:128:1"
*/
kernel void k(write_only image2d_array_t p, global const float *a)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    for (int n = 0; n <= 3; n++)
#else
    for (int n = 0; n < 3; n++)
#endif
        write_imagef(p, (int4)(x, y, n, 0), (float4)(n * a[y * 16 + x])); // <-
}
