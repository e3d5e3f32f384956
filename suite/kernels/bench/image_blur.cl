/* envisa
about = "3 x 3 binomial blur of an image: four places between texels, each of which the sampler makes of four"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 48, H = 32 }
bench = { W = 1024, H = 1024 }
slow = { W = 128, H = 128 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*20" }
bound = "gathers: four texels for each of four samples, of sixteen places at once"
features = ["image-2d", "sampler", "linear", "clamp", "unorm8", "2d-range"]
args = [
  { name = "in", image = "2d:W,H:rgba:unorm8", value = "rand:u8x4:W*H:1" },
  { name = "out", value = "zeros:f32x4:W*H", check = "abs 1e-6", why = "texels of 0 to 1 with weights of 1/4, which are exact" },
]
*/
constant sampler_t S = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
kernel void image_blur(read_only image2d_t in, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 s = read_imagef(in, S, (float2)(x, y)) + read_imagef(in, S, (float2)(x + 1, y))
             + read_imagef(in, S, (float2)(x, y + 1)) + read_imagef(in, S, (float2)(x + 1, y + 1));
    out[y * get_global_size(0) + x] = s * 0.25f;
}
