/* envisa
about = "An image made one and a half times as large, bilinear"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 32, H = 16 }
bench = { W = 1024, H = 512 }
slow = { W = 256, H = 128 }
global = ["W*3/2", "H*3/2"]
local = [8, 8]
cost = { bytes = "W*H*13" }
bound = "gathers: four texels for each sample, of sixteen places at once"
features = ["image-2d", "sampler", "linear", "mirror", "unorm8", "image-write", "2d-range"]
args = [
  { name = "in", image = "2d:W,H:rgba:unorm8", value = "rand:u8x4:W*H:1" },
  { name = "out", image = "2d:W*3/2,H*3/2:rgba:unorm8", value = "zeros:u8x4:W*H*9/4", check = "rel 0 abs 1", why = "a mean in the middle of two bytes may be rounded either way" },
]
*/
constant sampler_t S = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;
kernel void image_resize(read_only image2d_t in, write_only image2d_t out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 at = (float2)((x + 0.5f) / get_global_size(0), (y + 0.5f) / get_global_size(1));
    write_imagef(out, (int2)(x, y), read_imagef(in, S, at));
}
