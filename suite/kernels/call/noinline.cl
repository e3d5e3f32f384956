/* envisa
about = "Subroutines inside a kernel, called from divergent code"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["call", "divergence"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
__attribute__((noinline)) int mix(int x, int y)
{
    int r = x;
    for (int k = 0; k < (y & 7); k++)
        r = r * 17 + (r >> 3);
    return r;
}
__attribute__((noinline)) int twice(int x)
{
    return mix(x, 5) ^ mix(x, x);
}
kernel void noinline(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int v = a[i];
    if (v & 1)
        v = mix(v, v >> 4);
    out[i] = twice(v) + mix(v, (int)i);
}
