/* envisa
about = "A layer of a neural network, forward: products with the weights, summed by 16 inputs in local memory"
sizes = { N = 48, H = 32 }
bench = { N = 65536, H = 64 }
slow = { N = 2048, H = 32 }
global = ["H", "N"]
local = [16, 16]
cost = { bytes = "N*H*4", flops = "N*H*2" }
bound = "seven barriers, at which threads take turns for a few instructions each, of ever fewer channels; and weights from memory"
features = ["f32", "slm", "barrier", "divergence", "2d-range"]
args = [
  { name = "input", value = "rand:f32:N:1" },
  { name = "weight", value = "rand:f32:N*H:2" },
  { name = "partial", value = "zeros:f32:N/16*H", check = "exact", why = "products and sums in a fixed order, not contracted" },
  { name = "hidden", value = "u32:H" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void backprop_forward(global const float *input, global const float *weight, global float *partial, uint hidden)
{
    local float in[T], t[T][T];
    uint j = get_local_id(0), i = get_local_id(1);
    uint unit = get_global_id(0), row = get_global_id(1);
    if (j == 0)
        in[i] = input[row];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[i][j] = weight[row * hidden + unit] * in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = T / 2; s > 0; s >>= 1) {
        if (i < s)
            t[i][j] += t[i + s][j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        partial[get_group_id(1) * hidden + unit] = t[0][j];
}
