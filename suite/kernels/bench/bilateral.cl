/* envisa
about = "5 x 5 bilateral filter: weights of distance and of difference in brightness"
sizes = { W = 48, H = 32 }
bench = { W = 1024, H = 1024 }
slow = { W = 128, H = 128 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*8" }
bound = "exponentials, by sequences that give the same bits on all CPUs"
features = ["f32", "exp", "divide", "loop", "constant-table", "2d-range"]
args = [
  { name = "in", value = "rand:f32:W*H:1:0..1" },
  { name = "out", value = "zeros:f32:W*H", check = "rel 4e-6", why = "exp of -10 to 0 may differ by 3 ulp (OpenCL) and its argument by 1e-6, the quotient by 2.5; all terms are positive" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
constant float NEAR[5] = { 0.8007374f, 0.9459595f, 1.0f, 0.9459595f, 0.8007374f };
kernel void bilateral(global const float *in, global float *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    float c = in[y * w + x], sum = 0.0f, weights = 0.0f;
    for (int dy = -2; dy <= 2; dy++) {
        int row = clamp(y + dy, 0, h - 1) * w;
        for (int dx = -2; dx <= 2; dx++) {
            float v = in[row + clamp(x + dx, 0, w - 1)];
            float d = v - c;
            float k = NEAR[dy + 2] * NEAR[dx + 2] * exp(d * d * -10.0f);
            sum += k * v;
            weights += k;
        }
    }
    out[y * w + x] = sum / weights;
}
