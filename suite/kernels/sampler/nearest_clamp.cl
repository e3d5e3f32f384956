/* envisa
about = "Nearest sampling at whole and fractional coordinates, clamped to the edge"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "sampler", "nearest", "f32"]
args = [
  { name = "img", image = "2d:W,H:rgba:f32", value = "rand:f32x4:W*H:1" },
  { name = "out", value = "zeros:f32x4:W*H", check = "exact", why = "nearest texels are moved; coordinates stay away from their borders" },
]
*/
constant sampler_t S = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void nearest_clamp(read_only image2d_t img, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    float4 a = read_imagef(img, S, (float2)(x * 1.5f - 2.25f, y * 1.5f - 3.25f));
    float4 b = read_imagef(img, S, (int2)(x - 3, y + 5));
    out[y * w + x] = (x & 1) ? a : b;
}
