/* envisa
about = "int and uint: products, high halves, mad_hi, mul24, clamp, hadd"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["i32", "u32", "mul_hi", "saturation", "mul24"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "b", value = "rand:i32:N:2" },
  { name = "out", value = "zeros:i32:N*10", check = "exact", why = "integers" },
]
*/
kernel void int32_ops(global const int *a, global const int *b, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i], y = b[i];
    uint ux = as_uint(x), uy = as_uint(y);
    global int *o = out + i * 10;
    o[0] = x * y + x;
    o[1] = mul_hi(x, y);
    o[2] = mul_hi(ux, uy);
    o[3] = mad_hi(x, y, 7);
    o[4] = add_sat(x, y);
    o[5] = sub_sat(ux, uy);
    o[6] = mul24(x >> 8, y >> 8);
    o[7] = clamp(x, -1000000, 1000000) + min(ux, uy);
    o[8] = hadd(x, y) ^ rhadd(ux, uy);
    o[9] = abs_diff(x, y) + abs(x);
}
