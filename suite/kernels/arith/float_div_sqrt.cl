/* envisa
about = "float: correctly rounded quotient and square root"
options = "-cl-fp32-correctly-rounded-divide-sqrt"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["f32", "divide", "sqrt"]
args = [
  { name = "a", value = "rand:f32:N:1:0.001..1000" },
  { name = "b", value = "rand:f32:N:2:0.001..1000" },
  { name = "quot", value = "zeros:f32:N", check = "exact", why = "the option asks for correct rounding" },
  { name = "root", value = "zeros:f32:N", check = "exact", why = "the option asks for correct rounding" },
]
*/
kernel void float_div_sqrt(global const float *a, global const float *b, global float *quot, global float *root)
{
    size_t i = get_global_id(0);
    quot[i] = a[i] / b[i];
    root[i] = sqrt(a[i]);
}
