/* envisa
about = "short and ushort: sums, products, high halves, minimum, absolute difference"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["i16", "u16", "saturation", "mul_hi"]
args = [
  { name = "a", value = "rand:i16:N:1" },
  { name = "b", value = "rand:i16:N:2" },
  { name = "out", value = "zeros:i16:N*8", check = "exact", why = "integers" },
]
*/
kernel void int16_ops(global const short *a, global const short *b, global short *out)
{
    size_t i = get_global_id(0);
    short x = a[i], y = b[i];
    ushort ux = as_ushort(x), uy = as_ushort(y);
    global short *o = out + i * 8;
    o[0] = x - y;
    o[1] = x * y;
    o[2] = mul_hi(x, y);
    o[3] = as_short(mul_hi(ux, uy));
    o[4] = min(x, y) ^ as_short(max(ux, uy));
    o[5] = as_short(abs_diff(x, y));
    o[6] = sub_sat(x, y);
    o[7] = as_short((ushort)(ux / (ushort)(uy | 1)));
}
