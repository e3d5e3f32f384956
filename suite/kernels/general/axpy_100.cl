/* envisa
about = "axpy in groups of 100 work-items: the last thread lacks channels"
sizes = { N = 25600 }
global = ["N"]
local = [100]
features = ["f32"]
args = [
  { name = "x", value = "rand:f32:N:9" },
  { name = "y", value = "rand:f32:N:10", check = "exact", why = "one fused operation" },
  { name = "a", value = "f32:1.5" },
]
*/
kernel void axpy_100(global const float *x, global float *y, float a)
{
    size_t i = get_global_id(0);
    y[i] = fma(a, x[i], y[i]);
}
