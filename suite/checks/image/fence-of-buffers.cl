/* check
what = "a picture is written and read by others of the group behind a barrier for buffers"
finds = ["F0004"]
global = [16, 4]
local = [16, 4]
absent.pvc = "the device has no images"
options = "-cl-std=CL2.0"
[args]
p = "image:2d:16,4:r:f32=iota:f32:64"
o = "zeros:f32:64"
*/
#ifdef BUG
#define WHICH CLK_GLOBAL_MEM_FENCE
#else
#define WHICH CLK_IMAGE_MEM_FENCE
#endif
kernel void k(read_write image2d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(p, (int2)(x, y), x * y + 1); // <-
    work_group_barrier(WHICH);
    o[y * 16 + x] = read_imagef(p, (int2)(15 - x, 3 - y)).x; // <-
}
