/* envisa
about = "Vector conversions with saturation: float4 to uchar4, char4 to int4, int2 to short2"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["convert", "saturation", "f32x4", "u8x4"]
args = [
  { name = "a", value = "rand:f32x4:N:1:-100..400" },
  { name = "u", value = "zeros:u8x4:N", check = "exact", why = "integers" },
  { name = "s", value = "zeros:i16x4:N", check = "exact", why = "integers" },
  { name = "f", value = "zeros:f32x4:N", check = "exact", why = "exact conversions" },
]
*/
kernel void vector(global const float4 *a, global uchar4 *u, global short4 *s, global float4 *f)
{
    size_t i = get_global_id(0);
    uchar4 c = convert_uchar4_sat_rte(a[i]);
    u[i] = c;
    s[i] = convert_short4_sat(convert_int4(a[i] * 200.0f));
    f[i] = convert_float4(as_char4(c));
}
