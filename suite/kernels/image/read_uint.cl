/* envisa
about = "Reads of an unsigned byte image at whole coordinates"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-read", "u8"]
args = [
  { name = "img", image = "2d:W,H:rgba:u8", value = "rand:u8x4:W*H:1" },
  { name = "out", value = "zeros:u32x4:W*H", check = "exact", why = "integers" },
]
*/
kernel void read_uint(read_only image2d_t img, global uint4 *out)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    out[p.y * get_image_width(img) + p.x] = read_imageui(img, p).wzyx + (uint4)(get_image_height(img));
}
