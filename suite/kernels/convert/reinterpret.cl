/* envisa
about = "as_type between vectors and scalars of one size"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["reinterpret", "u8x4", "i16x2"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N*3", check = "exact", why = "moves and integers" },
]
*/
kernel void reinterpret(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    uchar4 c = as_uchar4(a[i]);
    short2 s = as_short2(a[i]);
    out[i * 3] = as_uint(c.wzyx);
    out[i * 3 + 1] = as_uint(s.yx) + as_uint((float)s.x);
    out[i * 3 + 2] = as_uint((uchar4)(c.x + c.y, c.z, c.w ^ 0x55, 7));
}
