/* envisa
about = "Reads of normalised bytes: 0 to 255 become 0.0 to 1.0"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 16 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-read", "unorm8"]
args = [
  { name = "img", image = "2d:W,H:rgba:unorm8", value = "rand:u8x4:W*H:1" },
  { name = "out", value = "zeros:f32x4:W*H", check = "ulp 2", why = "OpenCL allows 1.5 ulp for converting normalised integers" },
]
*/
kernel void read_unorm(read_only image2d_t img, global float4 *out)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    out[p.y * get_image_width(img) + p.x] = read_imagef(img, p);
}
