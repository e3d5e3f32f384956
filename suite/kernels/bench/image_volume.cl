/* envisa
about = "Rays through a 3D image: 32 trilinear samples, absorbed from front to back"
devices = ["skl", "tgllp", "dg2"]
why_devices = "the compiler offers no images on pvc"
sizes = { W = 32, H = 16, N = 16 }
bench = { W = 256, H = 256, N = 64 }
slow = { W = 64, H = 32, N = 32 }
global = ["W", "H"]
local = [16, 4]
cost = { bytes = "W*H*4+N*N*N", flops = "W*H*32*4" }
bound = "gathers: eight texels for each of 32 samples, of sixteen places at once"
features = ["image-3d", "sampler", "linear", "border", "unorm8", "loop", "2d-range"]
args = [
  { name = "volume", image = "3d:N,N,N:r:unorm8", value = "rand:u8:N*N*N:1" },
  { name = "out", value = "zeros:f32:W*H", check = "abs 2e-5", why = "32 steps, each of which multiplies and adds what is 0 to 1 from coordinates of singles; a texel's weight changes by 2^-17 with the last place of a coordinate" },
]
*/
constant sampler_t S = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
kernel void image_volume(read_only image3d_t volume, global float *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 at = (float4)((x + 0.5f) / get_global_size(0), (y + 0.5f) / get_global_size(1), 0, 0);
    float light = 1, sum = 0;
    for (int k = 0; k < 32; k++) {
        float a = read_imagef(volume, S, at).x * 0.125f;
        sum += light * a;
        light *= 1 - a;
        at += (float4)(0.0078125f, -0.0078125f, 0.03125f, 0);
    }
    out[y * get_global_size(0) + x] = sum;
}
