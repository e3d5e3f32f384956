/* envisa
about = "5 x 5 convolution with coefficients in constant memory; reads outside count as zero"
sizes = { W = 48, H = 32 }
bench = { W = 1024, H = 1024 }
slow = { W = 256, H = 128 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*8", flops = "W*H*50" }
bound = "each of 25 taps is loaded and added under a mask, as the compiler decides by channel whether a neighbour is inside"
features = ["f32", "fma", "constant-buffer", "loop", "divergence", "2d-range"]
args = [
  { name = "in", value = "rand:f32:W*H:1" },
  { name = "out", value = "zeros:f32:W*H", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "coef", value = "rand:f32:25:2" },
]
*/
kernel void convolution(global const float *in, global float *out, constant float *coef)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    float s = 0.0f;
    for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
            int sx = x + dx, sy = y + dy;
            if (sx >= 0 && sx < w && sy >= 0 && sy < h)
                s = fma(in[sy * w + sx], coef[(dy + 2) * 5 + dx + 2], s);
        }
    }
    out[y * w + x] = s;
}
