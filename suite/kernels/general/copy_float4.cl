/* envisa
about = "Copy of float4, four elements a channel"
sizes = { N = 16384 }
global = ["N"]
local = [64]
features = ["f32", "vector"]
args = [
  { name = "in", value = "rand:f32x4:N:9" },
  { name = "out", value = "zeros:f32x4:N", check = "exact", why = "copies" },
]
*/
kernel void copy_float4(global const float4 *in, global float4 *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i];
}
