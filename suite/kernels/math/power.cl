/* envisa
about = "pow, pown, rootn, cbrt, rsqrt, hypot"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32", "pow", "rsqrt", "builtin"]
args = [
  { name = "a", value = "rand:f32:N:1:0.1..10" },
  { name = "b", value = "rand:f32:N:2:-4..4" },
  { name = "p", value = "zeros:f32:N*3", check = "ulp 32", why = "OpenCL allows 16 ulp for pow, pown and rootn, on either side" },
  { name = "r", value = "zeros:f32:N*3", check = "ulp 8", why = "OpenCL allows 2 ulp for cbrt and rsqrt, 4 for hypot, on either side" },
]
*/
kernel void power(global const float *a, global const float *b, global float *p, global float *r)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    p[i * 3] = pow(x, y);
    p[i * 3 + 1] = pown(y, 3);
    p[i * 3 + 2] = rootn(x, 5);
    r[i * 3] = cbrt(x);
    r[i * 3 + 1] = rsqrt(x);
    r[i * 3 + 2] = hypot(x, y);
}
