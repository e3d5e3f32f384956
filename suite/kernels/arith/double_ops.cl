/* envisa
about = "double: arithmetic, division, square root, comparisons, rounding"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["f64", "divide", "sqrt", "fma"]
args = [
  { name = "a", value = "rand:f64:N:1:0.01..100" },
  { name = "b", value = "rand:f64:N:2:-100..100" },
  { name = "out", value = "zeros:f64:N*7", check = "exact", why = "OpenCL requires correct rounding of all these" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void double_ops(global const double *a, global const double *b, global double *out)
{
    size_t i = get_global_id(0);
    double x = a[i], y = b[i];
    global double *o = out + i * 7;
    o[0] = x + y;
    o[1] = x * y - 1.0;
    o[2] = y / x;
    o[3] = sqrt(x);
    o[4] = fma(x, y, x);
    o[5] = floor(y) + (x > y ? 1.0 : -1.0);
    o[6] = fmin(fabs(y), x);
}
