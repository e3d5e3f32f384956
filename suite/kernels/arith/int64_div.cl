/* envisa
about = "long and ulong division and remainder"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["i64", "u64", "divide", "emulation"]
args = [
  { name = "a", value = "rand:i64:N:1" },
  { name = "b", value = "rand:i64:N:2:-5000000000..5000000000" },
  { name = "out", value = "zeros:i64:N*4", check = "exact", why = "integers" },
]
*/
kernel void int64_div(global const long *a, global const long *b, global long *out)
{
    size_t i = get_global_id(0);
    long x = a[i], y = b[i] == 0 ? 9 : b[i];
    ulong ux = x, uy = y < 0 ? -y : y;
    global long *o = out + i * 4;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
}
