/* envisa
about = "Builtins with exact results: fmod, remainder, modf, frexp, ldexp, nextafter, ilogb, fdim, sign"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32", "builtin", "private-pointer"]
args = [
  { name = "a", value = "rand:f32:N:1:-50..50" },
  { name = "b", value = "rand:f32:N:2:0.5..5" },
  { name = "f", value = "zeros:f32:N*8", check = "exact", why = "OpenCL defines these with 0 ulp, fdim correctly rounded" },
  { name = "n", value = "zeros:i32:N*2", check = "exact", why = "integers" },
]
*/
kernel void exact(global const float *a, global const float *b, global float *f, global int *n)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i], whole;
    int e;
    f[i * 8] = fmod(x, y);
    f[i * 8 + 1] = remainder(x, y);
    f[i * 8 + 2] = modf(x, &whole);
    f[i * 8 + 3] = whole;
    f[i * 8 + 4] = frexp(x, &e);
    f[i * 8 + 5] = ldexp(y, (int)(i & 15) - 8);
    f[i * 8 + 6] = nextafter(x, y);
    f[i * 8 + 7] = fdim(x, y) + sign(x);
    n[i * 2] = e;
    n[i * 2 + 1] = ilogb(y);
}
