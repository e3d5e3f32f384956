/* envisa
about = "Writes of a float image"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-write", "f32"]
args = [
  { name = "in", value = "rand:f32x4:W*H:1" },
  { name = "img", image = "2d:W,H:rgba:f32", value = "zeros:f32x4:W*H", check = "exact", why = "moves only" },
]
*/
kernel void write_float(global const float4 *in, write_only image2d_t img)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int w = get_global_size(0);
    write_imagef(img, (int2)(w - 1 - p.x, p.y), in[p.y * w + p.x]);
}
