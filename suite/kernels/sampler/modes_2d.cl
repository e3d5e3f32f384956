/* envisa
about = "Every sampler there is on a 2D image"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 32, H = 16 }
global = ["W", "H"]
local = [8, 4]
features = ["image-2d", "sampler", "nearest", "linear", "clamp", "border", "repeat", "mirror", "f32"]
wrong_peers = [
  { peer = "oclgrind", why = "Oclgrind's linear filter mixes in texels of zero where the addressing mode is CLK_ADDRESS_NONE, though all texels that it takes are inside; Intel's CPU runtime gives envisa's result" },
]
args = [
  { name = "img", image = "2d:W,H:rgba:f32", value = "rand:f32x4:W*H:1:0..1" },
  { name = "out", value = "zeros:f32x4:W*H*16", check = "abs 1e-6", why = "texels of 0 to 1, of which weights that are exact make a mean; nearest texels lie away from borders" },
]
*/
constant sampler_t S0 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
constant sampler_t S1 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_LINEAR;
constant sampler_t S2 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t S3 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
constant sampler_t S4 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t S5 = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t S6 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
constant sampler_t S7 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_NONE | CLK_FILTER_LINEAR;
constant sampler_t S8 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t S9 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
constant sampler_t S10 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t S11 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t S12 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t S13 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t S14 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_NEAREST;
constant sampler_t S15 = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

// Everything is a multiple of 1/64 texel, and no place lies on the border of two texels.
kernel void modes_2d(read_only image2d_t img, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), n = get_global_size(0) * get_global_size(1);
    global float4 *to = out + y * get_global_size(0) + x;
    float2 at = (float2)(2.21875f * x - 20.296875f, 1.84375f * y - 9.359375f);
    float2 inside = (float2)(0.515625f + 0.9375f * x, 0.515625f + 0.875f * y);
    to[0 * n] = read_imagef(img, S0, inside);
    to[1 * n] = read_imagef(img, S1, inside);
    to[2 * n] = read_imagef(img, S2, at);
    to[3 * n] = read_imagef(img, S3, at);
    to[4 * n] = read_imagef(img, S4, at);
    to[5 * n] = read_imagef(img, S5, at);
    to[6 * n] = read_imagef(img, S6, inside / (float2)(32, 16));
    to[7 * n] = read_imagef(img, S7, inside / (float2)(32, 16));
    to[8 * n] = read_imagef(img, S8, at / (float2)(32, 16));
    to[9 * n] = read_imagef(img, S9, at / (float2)(32, 16));
    to[10 * n] = read_imagef(img, S10, at / (float2)(32, 16));
    to[11 * n] = read_imagef(img, S11, at / (float2)(32, 16));
    to[12 * n] = read_imagef(img, S12, at / (float2)(32, 16));
    to[13 * n] = read_imagef(img, S13, at / (float2)(32, 16));
    to[14 * n] = read_imagef(img, S14, at / (float2)(32, 16));
    to[15 * n] = read_imagef(img, S15, at / (float2)(32, 16));
}
