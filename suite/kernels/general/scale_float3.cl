/* envisa
about = "float3 read and written by vload3 and vstore3, three elements a channel"
sizes = { N = 16384 }
global = ["N"]
local = [64]
features = ["f32", "vector"]
args = [
  { name = "in", value = "rand:f32:3*N:9" },
  { name = "out", value = "zeros:f32:3*N", check = "exact", why = "products with a power of two" },
]
*/
kernel void scale_float3(global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    vstore3(vload3(i, in) * 0.5f, i, out);
}
