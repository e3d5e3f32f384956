/* envisa
about = "Seven-point stencil; border cells are copied"
sizes = { W = 16, H = 16, D = 8 }
bench = { W = 128, H = 128, D = 128 }
slow = { W = 64, H = 64, D = 64 }
global = ["W", "H", "D"]
local = [8, 4, 4]
cost = { bytes = "W*H*D*8", flops = "W*H*D*7" }
features = ["f32", "3d-range", "divergence"]
args = [
  { name = "in", value = "rand:f32:W*H*D:9" },
  { name = "out", value = "zeros:f32:W*H*D", check = "exact", why = "explicit fma and sums in a fixed order" },
  { name = "a", value = "f32:0.125" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void stencil3d(global const float *in, global float *out, float a)
{
    uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint w = get_global_size(0), h = get_global_size(1), d = get_global_size(2);
    uint i = (z * h + y) * w + x;
    if (x == 0 || y == 0 || z == 0 || x == w - 1 || y == h - 1 || z == d - 1) {
        out[i] = in[i];
    } else {
        float s = in[i - 1] + in[i + 1];
        s += in[i - w] + in[i + w];
        s += in[i - w * h] + in[i + w * h];
        out[i] = fma(a, s, in[i]);
    }
}
