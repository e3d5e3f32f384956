/* envisa
about = "Reads outside the image give the border colour; the sampler is an argument"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 12, H = 12 }
global = ["W", "H"]
local = [4, 4]
features = ["image-2d", "sampler", "sampler-argument", "border", "u8"]
args = [
  { name = "img", image = "2d:W,H:rgba:u8", value = "rand:u8x4:W*H:1" },
  { name = "s", sampler = "clamp:nearest:unnormalized" },
  { name = "out", value = "zeros:u32x4:W*H", check = "exact", why = "integers" },
]
*/
kernel void border(read_only image2d_t img, sampler_t s, global uint4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    out[y * w + x] = read_imageui(img, s, (int2)(x - 2, y + 3));
}
