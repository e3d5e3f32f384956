/* check
what = "an image of a buffer is read behind its last texel"
finds = ["F0005", "F0001"]
global = [64]
local = [32]
absent.pvc = "the device has no images"
[args]
p = "image:1dbuffer:60:r:f32=iota:f32:60"
o = "zeros:f32:64"
*/
kernel void k(read_only image1d_buffer_t p, global float *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = read_imagef(p, i).x; // <-
#else
    o[i] = i < 60 ? read_imagef(p, i).x : 0;
#endif
}
