/* envisa
about = "Writes of integer images of bytes and shorts, values outside the channel's range being clamped"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-write", "u8", "i16", "saturation"]
args = [
  { name = "in", value = "rand:i32x4:W*H:1:-200..200" },
  { name = "u", image = "2d:W,H:rgba:u8", value = "zeros:u8x4:W*H", check = "exact", why = "integers" },
  { name = "s", image = "2d:W,H:rgba:i16", value = "zeros:i16x4:W*H", check = "exact", why = "integers" },
]
*/
kernel void write_int(global const int4 *in, write_only image2d_t u, write_only image2d_t s)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int4 v = in[p.y * get_global_size(0) + p.x];
    write_imageui(u, p, as_uint4(abs(v) & 255));
    write_imagei(s, p, v * 100);
}
