/* envisa
about = "half to float and back in the four rounding modes, by vload_half and vstore_half"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["convert", "rounding-mode", "f16"]
args = [
  { name = "h", value = "rand:f16:N:1:-100..100" },
  { name = "f", value = "rand:f32:N:2:-65000..65000" },
  { name = "up", value = "zeros:f32:N", check = "exact", why = "widening is exact" },
  { name = "down", value = "zeros:f16:N*4", check = "exact", why = "correctly rounded in the mode named" },
]
*/
kernel void half_float(global const half *h, global const float *f, global float *up, global half *down)
{
    size_t i = get_global_id(0);
    up[i] = vload_half(i, h);
    vstore_half_rte(f[i], i * 4, down);
    vstore_half_rtz(f[i], i * 4 + 1, down);
    vstore_half_rtp(f[i], i * 4 + 2, down);
    vstore_half_rtn(f[i], i * 4 + 3, down);
}
