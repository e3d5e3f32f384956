/* envisa
about = "Many scalar and vector arguments of every width"
sizes = { N = 32 }
global = ["N"]
local = [32]
features = ["arguments"]
args = [
  { name = "out", value = "zeros:i64:N", check = "exact", why = "integers and whole floats" },
  { name = "c", value = "i8:-7" },
  { name = "s", value = "u16:60000" },
  { name = "i", value = "i32:-123456" },
  { name = "l", value = "i64:99999999999" },
  { name = "f", value = "f32:3" },
  { name = "v", value = "i32x4:1,2,3,4" },
  { name = "b", value = "u8x2:200,100" },
  { name = "g", value = "f32x2:8,16" },
]
*/
kernel void many_arguments(global long *out, char c, ushort s, int i, long l, float f, int4 v, uchar2 b, float2 g)
{
    uint k = get_global_id(0);
    long r = l + c * (int)k + s - i;
    r += (long)(f * 4.0f) + v.x + v.y * 10 + v.z * 100 + v.w * 1000 + b.x * 3 + b.y + (int)(g.x * g.y);
    out[k] = r;
}
