/* envisa
about = "char and uchar: wrapping and saturating sums, products, shifts, averages"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["i8", "u8", "saturation", "shift"]
args = [
  { name = "a", value = "rand:i8:N:1" },
  { name = "b", value = "rand:i8:N:2" },
  { name = "out", value = "zeros:i8:N*8", check = "exact", why = "integers" },
]
*/
kernel void int8_ops(global const char *a, global const char *b, global char *out)
{
    size_t i = get_global_id(0);
    char x = a[i], y = b[i];
    uchar ux = as_uchar(x), uy = as_uchar(y);
    global char *o = out + i * 8;
    o[0] = x + y;
    o[1] = add_sat(x, y);
    o[2] = sub_sat(x, y);
    o[3] = x * y;
    o[4] = x >> (y & 7);
    o[5] = as_char((uchar)(ux >> (uy & 7)));
    o[6] = as_char(add_sat(ux, uy));
    o[7] = rhadd(x, y);
}
