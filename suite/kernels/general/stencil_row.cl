/* envisa
about = "Five-point stencil on the inside of a grid: neighbours in a row are elements of one message"
sizes = { W = 514, H = 130 }
global = ["W-2", "H-2"]
local = [32, 1]
features = ["f32", "2d-range"]
args = [
  { name = "in", value = "rand:f32:W*H:9" },
  { name = "out", value = "zeros:f32:W*H", check = "exact", why = "sums in a fixed order and one product, not contracted" },
  { name = "w", value = "i32:W" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void stencil_row(global const float *in, global float *out, int w)
{
    int at = (get_global_id(1) + 1) * w + get_global_id(0) + 1;
    out[at] = ((((in[at - 1] + in[at]) + in[at + 1]) + in[at - w]) + in[at + w]) * 0.2f;
}
