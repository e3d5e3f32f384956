/* envisa
about = "Dot products of four bytes, signed, unsigned and mixed, with and without accumulation"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["dot-product", "dp4a", "i8"]
args = [
  { name = "a", value = "rand:u8x4:N:1" },
  { name = "b", value = "rand:u8x4:N:2" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "integers" },
]
*/
kernel void dot4(global const uchar4 *a, global const uchar4 *b, global int4 *out)
{
    size_t i = get_global_id(0);
    char4 sa = as_char4(a[i]), sb = as_char4(b[i]);
    int ss = sa.x * sb.x + sa.y * sb.y + sa.z * sb.z + sa.w * sb.w;
    uint uu = a[i].x * b[i].x + a[i].y * b[i].y + a[i].z * b[i].z + a[i].w * b[i].w;
    int su = sa.x * b[i].x + sa.y * b[i].y + sa.z * b[i].z + sa.w * b[i].w;
    out[i] = (int4)(ss, (int)uu, su, ss + (int)i * 1000);
}
