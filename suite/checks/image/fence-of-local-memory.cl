/* check
what = "work-items of a sub-group exchange texels by a barrier that is for local memory"
finds = ["F0004"]
global = [16]
local = [16]
absent.pvc = "the device has no images"
options = "-cl-std=CL2.0"
[args]
p = "image:2d:16,1:r:u32=iota:u32:16"
o = "zeros:u32:16"
*/
#ifdef BUG
#define WHICH CLK_LOCAL_MEM_FENCE
#else
#define WHICH CLK_IMAGE_MEM_FENCE
#endif
kernel void k(read_write image2d_t p, global uint *o)
{
    int x = get_global_id(0);
    write_imageui(p, (int2)(x, 0), (uint4)(x * 3)); // <-
    work_group_barrier(WHICH);
    o[x] = read_imageui(p, (int2)(x ^ 1, 0)).x; // <-
}
