/* envisa
about = "Writes of normalised bytes, with clamping to 0 and 1"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-write", "unorm8"]
args = [
  { name = "in", value = "rand:f32x4:W*H:1:-0.2..1.2" },
  { name = "img", image = "2d:W,H:rgba:unorm8", value = "zeros:u8x4:W*H", check = "abs 1", why = "OpenCL lets the rounding to bytes differ by one step" },
]
*/
kernel void write_unorm(global const float4 *in, write_only image2d_t img)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(img, p, in[p.y * get_global_size(0) + p.x]);
}
