/* envisa
about = "vector code: gathers and scatters whose channels beyond n are off"
vector = true
sizes = { N = 5, M = 71 }
global = ["N"]
local = [1]
features = ["vector code", "gather"]
args = [
  { name = "in", value = "rand:f32:N*16:3" },
  { name = "out", value = "iota:f32:N*16", check = "exact", why = "a product, correctly rounded" },
  { name = "n", value = "u32:M" },
  { name = "f", value = "f32:1.7" },
]
*/
kernel void scale(global const float *in, global float *out, uint n, float f) {
    for (uint i = get_global_id(0) * 16, end = i + 16; i < end; i++)
        if (i < n) out[i] = in[i] * f;
}
