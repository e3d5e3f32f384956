/* envisa
about = "A struct argument by value, with fields of several sizes and an array"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["struct-argument"]
args = [
  { name = "p", bytes = "i32:-5 f32:2.5 i8:7 i8:0 i16:0 i32:0 i64:1234567890123 i32x4:1,2,3,4" },
  { name = "out", value = "zeros:i64:N", check = "exact", why = "integers" },
]
*/
typedef struct { int a; float f; char c; long l; int t[4]; } params;
kernel void by_value(params p, global long *out)
{
    uint i = get_global_id(0);
    out[i] = p.l + p.a * (long)i + (int)(p.f * 2.0f) + p.c + p.t[i & 3];
}
