/* envisa
about = "int, uint and long to float in the four rounding modes"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["convert", "rounding-mode", "f32", "i64"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "l", value = "rand:i64:N:2" },
  { name = "out", value = "zeros:f32:N*7", check = "exact", why = "conversions are correctly rounded in the mode named" },
]
*/
kernel void int_to_float(global const int *a, global const long *l, global float *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    global float *o = out + i * 7;
    o[0] = convert_float_rte(x);
    o[1] = convert_float_rtz(x);
    o[2] = convert_float_rtp(x);
    o[3] = convert_float_rtn(x);
    o[4] = convert_float(as_uint(x));
    o[5] = convert_float(l[i]);
    o[6] = convert_float(as_ulong(l[i]));
}
