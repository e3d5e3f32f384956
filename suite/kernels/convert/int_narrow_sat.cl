/* envisa
about = "Integer conversions that narrow, with and without saturation"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["convert", "saturation", "i8", "i16", "i32"]
args = [
  { name = "a", value = "rand:i32:N:1:-70000..70000" },
  { name = "out", value = "zeros:i32:N*6", check = "exact", why = "integers" },
]
*/
kernel void int_narrow_sat(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    global int *o = out + i * 6;
    o[0] = convert_char(x);
    o[1] = convert_char_sat(x);
    o[2] = convert_uchar_sat(x);
    o[3] = convert_short_sat(x);
    o[4] = convert_ushort_sat(x);
    o[5] = convert_uint_sat(x);
}
