/* envisa
about = "Reads of a float image at whole coordinates, without filtering"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-read", "f32"]
args = [
  { name = "img", image = "2d:W,H:rgba:f32", value = "rand:f32x4:W*H:1" },
  { name = "out", value = "zeros:f32x4:W*H", check = "exact", why = "moves and one product" },
]
*/
kernel void read_float(read_only image2d_t img, global float4 *out)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int w = get_image_width(img);
    out[p.y * w + p.x] = read_imagef(img, p) * 2.0f;
}
