/* envisa
about = "int8 and uchar16 vectors, odd and even halves"
sizes = { N = 64 }
global = ["N"]
local = [16]
features = ["i32x8", "u8x16", "swizzle"]
args = [
  { name = "a", value = "rand:i32x8:N:1" },
  { name = "b", value = "rand:u8x16:N:2" },
  { name = "x", value = "zeros:i32x8:N", check = "exact", why = "integers" },
  { name = "y", value = "zeros:u8x16:N", check = "exact", why = "integers" },
]
*/
kernel void int8_wide(global const int8 *a, global const uchar16 *b, global int8 *x, global uchar16 *y)
{
    size_t i = get_global_id(0);
    int8 v = a[i];
    x[i] = (int8)(v.even, v.odd) ^ v.s76543210;
    uchar16 w = b[i];
    y[i] = (uchar16)(w.hi + w.lo, w.odd ^ w.even);
}
