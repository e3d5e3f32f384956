/* check
what = "a picture is written and then read by others of the group behind a barrier for local memory"
finds = ["F0004"]
global = [8, 8]
local = [8, 8]
absent.pvc = "the device has no images"
options = "-cl-std=CL2.0"
[args]
p = "image:2d:8,8:r:f32=iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(read_write image2d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(p, (int2)(x, y), x * y); // <-
#ifdef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    barrier(CLK_IMAGE_MEM_FENCE);
#endif
    o[y * 8 + x] = read_imagef(p, (int2)(7 - x, y)).x; // <-
}
