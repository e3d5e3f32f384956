/* envisa
about = "Linear filtering with normalised, repeated coordinates"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 16, H = 16 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "sampler", "linear", "repeat", "f32"]
args = [
  { name = "img", image = "2d:W,H:rgba:f32", value = "rand:f32x4:W*H:1:0..1" },
  { name = "out", value = "zeros:f32x4:W*H", check = "abs 1e-6", why = "four products with weights that singles hold to 2^-21: coordinates of up to 24 texels" },
]
*/
constant sampler_t S = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
kernel void linear_normalized(read_only image2d_t img, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    out[y * w + x] = read_imagef(img, S, (float2)((x + 0.25f) * 1.5f / w, (y - 4.125f) / h));
}
