/* envisa
about = "erf, erfc and tgamma by their long polynomial code"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["f32", "builtin", "divergence"]
args = [
  { name = "a", value = "rand:f32:N:1:0.1..4" },
  { name = "out", value = "zeros:f32:N*3", check = "ulp 32", why = "OpenCL allows 16 ulp on either side" },
]
*/
kernel void gamma_erf(global const float *a, global float *out)
{
    size_t i = get_global_id(0);
    out[i * 3] = erf(a[i]);
    out[i * 3 + 1] = erfc(a[i]);
    out[i * 3 + 2] = tgamma(a[i]);
}
