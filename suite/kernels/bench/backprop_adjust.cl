/* envisa
about = "The weights of a layer adjusted by its errors, with momentum"
sizes = { N = 48, H = 32 }
bench = { N = 65536, H = 32 }
slow = { N = 4096, H = 64 }
global = ["H", "N"]
local = [16, 16]
cost = { bytes = "N*H*16", flops = "N*H*5" }
features = ["f32", "2d-range"]
args = [
  { name = "delta", value = "rand:f32:H:1" },
  { name = "input", value = "rand:f32:N:2" },
  { name = "weight", value = "rand:f32:N*H:3", check = "exact", why = "single operations in a fixed order, not contracted" },
  { name = "before", value = "rand:f32:N*H:4", check = "exact", why = "as for weight" },
  { name = "hidden", value = "u32:H" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void backprop_adjust(global const float *delta, global const float *input, global float *weight,
                            global float *before, uint hidden)
{
    uint unit = get_global_id(0), row = get_global_id(1);
    uint k = row * hidden + unit;
    float change = 0.3f * delta[unit] * input[row] + 0.3f * before[k];
    weight[k] += change;
    before[k] = change;
}
