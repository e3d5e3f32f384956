/* envisa
about = "int and uint division and remainder by varying, constant and negative divisors"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["i32", "u32", "divide", "rounding-mode"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "b", value = "rand:i32:N:2:-40000..40000" },
  { name = "out", value = "zeros:i32:N*6", check = "exact", why = "integers" },
]
*/
kernel void int32_div(global const int *a, global const int *b, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i], y = b[i] == 0 ? 3 : b[i];
    uint ux = x, uy = ((uint)y & 0xffff) + 1;
    global int *o = out + i * 6;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
    o[4] = x / 7 + x % -13;
    o[5] = ux / 641u;
}
