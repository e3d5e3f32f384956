/* envisa
about = "float: infinities, NaN, denormals, signed zeros and their classification"
sizes = { N = 16 }
global = ["N"]
local = [16]
features = ["f32", "nan", "denormal", "classify"]
wrong_peers = [
  { peer = "oclgrind", why = "Oclgrind's isnormal() is true for the four denormals" },
]
args = [
  { name = "bits", buffer = "u32x16:0,0x80000000,1,0x80000001,0x007fffff,0x00800000,0x7f800000,0xff800000,0x7fc00000,0xffc00001,0x3f800000,0xbf800000,0x7f7fffff,0x33800000,0x00400000,0x4b000001" },
  { name = "cls", value = "zeros:i32:N", check = "exact", why = "integers" },
  { name = "res", value = "zeros:f32:N*4", check = "exact", why = "correctly rounded; NaN equals NaN whatever its payload" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void float_special(global const uint *bits, global int *cls, global float *res)
{
    size_t i = get_global_id(0);
    float x = as_float(bits[i]);
    cls[i] = (isnan(x) ? 1 : 0) | (isinf(x) ? 2 : 0) | (isfinite(x) ? 4 : 0) | (isnormal(x) ? 8 : 0)
           | (signbit(x) ? 16 : 0) | (x == 0.0f ? 32 : 0) | (x < 1.0f ? 64 : 0) | (x != x ? 128 : 0);
    res[i * 4] = x + 1.0f;
    res[i * 4 + 1] = x * 0.5f;
    res[i * 4 + 2] = x - x;
    res[i * 4 + 3] = fmax(x, 0.25f);
}
