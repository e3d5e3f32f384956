/* envisa
about = "exp, log, sin and pow in double precision"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["f64", "exp", "log", "sin", "pow", "builtin"]
args = [
  { name = "a", value = "rand:f64:N:1:0.1..10" },
  { name = "out", value = "zeros:f64:N*4", check = "ulp 32", why = "OpenCL allows 3 ulp for exp and log, 4 for sin, 16 for pow, on either side" },
]
*/
kernel void double_math(global const double *a, global double *out)
{
    size_t i = get_global_id(0);
    double x = a[i];
    out[i * 4] = exp(x);
    out[i * 4 + 1] = log(x);
    out[i * 4 + 2] = sin(x);
    out[i * 4 + 3] = pow(x, 2.5);
}
