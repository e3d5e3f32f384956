/* envisa
about = "One radix-2 decimation step: butterflies with twiddle factors from a table"
sizes = { N = 512, HALF = 16 }
bench = { N = 4194304, HALF = 1024 }
slow = { N = 524288, HALF = 1024 }
global = ["N/2"]
local = [64]
cost = { bytes = "N*16", flops = "N*5" }
features = ["f32", "f32x2", "fma", "gather"]
args = [
  { name = "data", value = "rand:f32x2:N:1", check = "exact", why = "explicit fma and single operations in a fixed order" },
  { name = "twiddle", value = "rand:f32x2:HALF:2" },
  { name = "half_len", value = "u32:HALF" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void fft_step(global float2 *data, global const float2 *twiddle, uint half_len)
{
    uint t = get_global_id(0);
    uint k = t & (half_len - 1);
    uint i = ((t - k) << 1) + k;
    float2 w = twiddle[k], a = data[i], b = data[i + half_len];
    float2 m;
    m.x = fma(b.x, w.x, -(b.y * w.y));
    m.y = fma(b.x, w.y, b.y * w.x);
    data[i] = a + m;
    data[i + half_len] = a - m;
}
