/* check
what = "a volume is written with its row as its slice"
finds = ["F0008", "F0005", "F0001", "F0011"]
global = [8, 4, 2]
local = [8, 4, 1]
absent.pvc = "the device has no images"
options = "-cl-std=CL2.0"
[args]
p = "image:3d:8,4,2:r:f32=zeros:f32:64"
*/
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
kernel void k(write_only image3d_t p)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
#ifdef BUG
    write_imagef(p, (int4)(x, z, y, 0), 1.0f + x); // <-
#else
    write_imagef(p, (int4)(x, y, z, 0), 1.0f + x);
#endif
}
