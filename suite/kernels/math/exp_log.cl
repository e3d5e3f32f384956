/* envisa
about = "exp, exp2, exp10, log, log2, log10, expm1, log1p"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32", "exp", "log", "builtin"]
args = [
  { name = "a", value = "rand:f32:N:1:0.01..20" },
  { name = "e", value = "zeros:f32:N*4", check = "ulp 6", why = "OpenCL allows 3 ulp (expm1 too) on either side" },
  { name = "l", value = "zeros:f32:N*4", check = "ulp 6", why = "OpenCL allows 3 ulp, log1p 2, on either side" },
]
*/
kernel void exp_log(global const float *a, global float *e, global float *l)
{
    size_t i = get_global_id(0);
    float x = a[i];
    e[i * 4] = exp(x - 10.0f);
    e[i * 4 + 1] = exp2(x);
    e[i * 4 + 2] = exp10(x * 0.5f);
    e[i * 4 + 3] = expm1(x * 0.1f);
    l[i * 4] = log(x * 3.7f);
    l[i * 4 + 1] = log2(x);
    l[i * 4 + 2] = log10(x);
    l[i * 4 + 3] = log1p(x);
}
