/* envisa
about = "float: exact operations, comparisons, min and max, copysign, rounding to integers"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["f32", "compare", "modifiers", "round"]
args = [
  { name = "a", value = "rand:f32:N:1:-8..8" },
  { name = "b", value = "rand:f32:N:2:-8..8" },
  { name = "out", value = "zeros:f32:N*10", check = "exact", why = "each operation is correctly rounded and none is contracted" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void float_ops(global const float *a, global const float *b, global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    global float *o = out + i * 10;
    o[0] = x + y;
    o[1] = x - fabs(y);
    o[2] = -x * y;
    o[3] = fma(x, y, -fabs(x));
    o[4] = fmin(x, y) + fmax(x, 0.5f);
    o[5] = copysign(x, y);
    o[6] = floor(x) + ceil(y);
    o[7] = trunc(x) + rint(y);
    o[8] = round(x * 2.0f);
    o[9] = (x < y) ? x : ((x >= 2.0f) ? y : -y);
}
