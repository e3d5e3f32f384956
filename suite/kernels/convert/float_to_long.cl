/* envisa
about = "float to long and ulong, toward zero and saturated"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["convert", "i64", "saturation", "f32", "emulation"]
args = [
  { name = "a", value = "rand:f32:N:1:-9e18..9e18" },
  { name = "b", value = "rand:f32:N:2:-1e20..1e20" },
  { name = "out", value = "zeros:i64:N*3", check = "exact", why = "integers" },
]
*/
kernel void float_to_long(global const float *a, global const float *b, global long *out)
{
    size_t i = get_global_id(0);
    out[i * 3] = convert_long(a[i]);
    out[i * 3 + 1] = convert_long_sat(b[i]);
    out[i * 3 + 2] = convert_ulong_sat(b[i]);
}
