/* check
what = "a work-item reads the texel that it has written without a fence of images"
finds = ["F0004"]
says = "is read by the work-item that wrote it"
global = [16, 4]
local = [16, 4]
absent.pvc = "the device has no images"
options = "-cl-std=CL2.0"
[args]
p = "image:2d:16,4:r:f32=iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(read_write image2d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(p, (int2)(x, y), x * y + 1); // <-
#ifndef BUG
    atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);
#endif
    float own = read_imagef(p, (int2)(x, y)).x; // <-
    work_group_barrier(CLK_IMAGE_MEM_FENCE);
    o[y * 16 + x] = own + read_imagef(p, (int2)(15 - x, y)).x;
}
