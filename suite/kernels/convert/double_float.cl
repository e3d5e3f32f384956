/* envisa
about = "double to float, int and long and back"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["convert", "f64", "rounding-mode"]
wrong_peers = [
  { peer = "oclgrind", why = "Oclgrind rounds the magnitude where rtp and rtn round the value: its convert_int_rtp(-33.4f) is -34 and its convert_int_rtn(-33.4f) -33, the other way round than OpenCL wants; positive numbers are right" },
]
args = [
  { name = "d", value = "rand:f64:N:1:-1e6..1e6" },
  { name = "f", value = "zeros:f32:N*3", check = "exact", why = "correctly rounded in the mode named" },
  { name = "l", value = "zeros:i64:N*2", check = "exact", why = "integers" },
  { name = "back", value = "zeros:f64:N*2", check = "exact", why = "correctly rounded" },
]
*/
kernel void double_float(global const double *d, global float *f, global long *l, global double *back)
{
    size_t i = get_global_id(0);
    double x = d[i];
    f[i * 3] = convert_float_rte(x);
    f[i * 3 + 1] = convert_float_rtz(x);
    f[i * 3 + 2] = convert_float_rtp(x);
    l[i * 2] = convert_long_rte(x * 1000.0);
    l[i * 2 + 1] = convert_int_rtn(x);
    back[i * 2] = convert_double(f[i * 3]);
    back[i * 2 + 1] = convert_double(l[i * 2] * 4611686018427387L);
}
