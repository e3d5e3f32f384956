/* envisa
about = "vload4 and vstore4 from addresses aligned to one element only"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["u16x4", "f32x4", "unaligned"]
args = [
  { name = "a", value = "rand:f32:N*4+4:1" },
  { name = "b", value = "rand:u16:N*4+4:2" },
  { name = "x", value = "zeros:f32:N*4+4", check = "exact", why = "moves only" },
  { name = "y", value = "zeros:u16:N*4+4", check = "exact", why = "integers" },
]
*/
kernel void unaligned(global const float *a, global const ushort *b, global float *x, global ushort *y)
{
    size_t i = get_global_id(0);
    vstore4((float4)(vload4(i, a + 1)).wxyz, i, x + 3);
    vstore4((ushort4)(vload4(i, b + 3)) + (ushort4)(1), i, y + 1);
}
