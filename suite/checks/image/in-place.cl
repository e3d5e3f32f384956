/* check
what = "a picture is blurred in place"
finds = ["F0004"]
global = [16, 8]
local = [8, 8]
options = "-cl-std=CL2.0"
absent.pvc = "the device has no images"
[args]
p = "image:2d:16,8:r:f32=iota:f32:128"
q = "image:2d:16,8:r:f32=iota:f32:128"
*/
kernel void k(read_write image2d_t p, write_only image2d_t q)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = read_imagef(p, (int2)(x, y)) + read_imagef(p, (int2)(min(x + 1, 15), y)); // <-
#ifdef BUG
    write_imagef(p, (int2)(x, y), sum); // <-
#else
    write_imagef(q, (int2)(x, y), sum);
#endif
}
