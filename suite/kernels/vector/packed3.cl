/* envisa
about = "vload3 and vstore3 on packed floats and bytes"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["f32x3", "u8x3", "unaligned"]
args = [
  { name = "a", value = "rand:f32x3:N:1" },
  { name = "b", value = "rand:u8x3:N:2" },
  { name = "x", value = "zeros:f32x3:N", check = "exact", why = "one product, correctly rounded" },
  { name = "y", value = "zeros:u8x3:N", check = "exact", why = "integers" },
]
*/
kernel void packed3(global const float *a, global const uchar *b, global float *x, global uchar *y)
{
    size_t i = get_global_id(0);
    vstore3(vload3(i, a).zxy * 3.0f, i, x);
    vstore3((uchar3)(255) - vload3(i, b).yzx, i, y);
}
