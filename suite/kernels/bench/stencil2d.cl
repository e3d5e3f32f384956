/* envisa
about = "Five-point stencil with clamped borders"
sizes = { W = 48, H = 32 }
bench = { W = 2048, H = 2048 }
slow = { W = 512, H = 512 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*8", flops = "W*H*6" }
features = ["f32", "2d-range", "select"]
args = [
  { name = "in", value = "rand:f32:W*H:9" },
  { name = "out", value = "zeros:f32:W*H", check = "exact", why = "sums in a fixed order and one product, not contracted" },
  { name = "w", value = "i32:W" },
  { name = "h", value = "i32:H" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void stencil2d(global const float *in, global float *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    int xl = max(x - 1, 0), xr = min(x + 1, w - 1);
    int yu = max(y - 1, 0), yd = min(y + 1, h - 1);
    float c = in[y * w + x];
    float s = ((in[y * w + xl] + in[y * w + xr]) + in[yu * w + x]) + in[yd * w + x];
    out[y * w + x] = (s + c) * 0.2f;
}
