/* envisa
about = "sin, cos, tan, their inverses and the hyperbolic ones"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32", "sin", "cos", "builtin"]
args = [
  { name = "a", value = "rand:f32:N:1:-30..30" },
  { name = "u", value = "rand:f32:N:2:-0.99..0.99" },
  { name = "s", value = "zeros:f32:N*3", check = "ulp 10", why = "OpenCL allows 4 ulp for sin and cos, 5 for tan, on either side" },
  { name = "t", value = "zeros:f32:N*7", check = "ulp 12", why = "OpenCL allows 4 ulp for asin, acos, sinh and cosh, 5 for atan and tanh, 6 for atan2, on either side" },
]
*/
kernel void trig(global const float *a, global const float *u, global float *s, global float *t)
{
    size_t i = get_global_id(0);
    float x = a[i], y = u[i];
    s[i * 3] = sin(x);
    s[i * 3 + 1] = cos(x);
    s[i * 3 + 2] = tan(y);
    t[i * 7] = asin(y);
    t[i * 7 + 1] = acos(y);
    t[i * 7 + 2] = atan(x);
    t[i * 7 + 3] = atan2(y, x);
    t[i * 7 + 4] = sinh(y * 3.0f);
    t[i * 7 + 5] = cosh(y * 3.0f);
    t[i * 7 + 6] = tanh(y);
}
