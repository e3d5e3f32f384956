/* check
what = "a slice of a volume behind the last"
finds = ["F0005"]
global = [8,8]
local = [8,8]
absent.pvc = "the device has no images"
[args]
p = "image:3d:8,8,4:r:f32=zeros:f32:256"
o = "zeros:f32:64"
*/
kernel void k(read_only image3d_t p, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0;
#ifdef BUG
    for (int z = 0; z <= 4; z++)
#else
    for (int z = 0; z < 4; z++)
#endif
        s += read_imagef(p, (int4)(x, y, z, 0)).x; // <-
    o[y * 8 + x] = s;
}
