/* envisa
about = "exp, log and sin in double precision"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["f64", "exp", "log", "sin", "builtin"]
args = [
  { name = "a", value = "rand:f64:N:1:0.1..10" },
  { name = "out", value = "zeros:f64:N*3", check = "ulp 8", why = "OpenCL allows 3 ulp for exp and log, 4 for sin, on either side" },
]
*/
kernel void double_math(global const double *a, global double *out)
{
    size_t i = get_global_id(0);
    double x = a[i];
    out[i * 3] = exp(x);
    out[i * 3 + 1] = log(x);
    out[i * 3 + 2] = sin(x);
}
