/* envisa
about = "Image to image, rows turned upside down, one-channel 32-bit integers"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 24, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "image-read", "image-write", "i32"]
args = [
  { name = "src", image = "2d:W,H:r:i32", value = "rand:i32:W*H:1" },
  { name = "dst", image = "2d:W,H:r:i32", value = "zeros:i32:W*H", check = "exact", why = "integers" },
]
*/
kernel void copy_flip(read_only image2d_t src, write_only image2d_t dst)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    int4 v = read_imagei(src, (int2)(p.x, get_image_height(src) - 1 - p.y));
    write_imagei(dst, p, (int4)(v.x + p.x, 0, 0, 0));
}
