/* check
what = "a picture is relaxed in place with two barriers a step, of which the second is for local memory"
finds = ["F0004"]
global = [32, 2]
local = [32, 2]
absent.pvc = "the device has no images"
options = "-cl-std=CL2.0"
[args]
p = "image:2d:32,2:r:f32=iota:f32:64"
*/
#ifdef BUG
#define WHICH CLK_LOCAL_MEM_FENCE
#else
#define WHICH CLK_IMAGE_MEM_FENCE
#endif
kernel void k(read_write image2d_t p)
{
    int x = get_global_id(0), y = get_global_id(1);
    for (int n = 0; n < 3; n++) {
        float v = read_imagef(p, (int2)((x + 1) & 31, y)).x + read_imagef(p, (int2)(x, 1 - y)).x; // <-
        work_group_barrier(CLK_IMAGE_MEM_FENCE);
        write_imagef(p, (int2)(x, y), v * 0.5f); // <-
        work_group_barrier(WHICH);
    }
}
