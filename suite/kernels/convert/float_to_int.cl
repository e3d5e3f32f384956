/* envisa
about = "float to int in the four rounding modes, and with saturation"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["convert", "rounding-mode", "saturation", "f32"]
wrong_peers = [
  { peer = "oclgrind", why = "Oclgrind rounds the magnitude where rtp and rtn round the value: its convert_int_rtp(-33.4f) is -34 and its convert_int_rtn(-33.4f) -33, the other way round than OpenCL wants; positive numbers are right" },
]
args = [
  { name = "a", value = "rand:f32:N:1:-300..300" },
  { name = "out", value = "zeros:i32:N*7", check = "exact", why = "integers" },
]
*/
kernel void float_to_int(global const float *a, global int *out)
{
    size_t i = get_global_id(0);
    float x = a[i];
    global int *o = out + i * 7;
    o[0] = convert_int_rte(x);
    o[1] = convert_int_rtz(x);
    o[2] = convert_int_rtp(x);
    o[3] = convert_int_rtn(x);
    o[4] = convert_uchar_sat(x);
    o[5] = convert_char_sat_rte(x);
    o[6] = convert_int_sat(x * 1e8f);
}
