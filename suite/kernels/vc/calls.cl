/* envisa
about = "vector code: a function that calls itself, on a stack, with vectors as argument and result"
vector = true
sizes = { N = 6 }
global = ["N"]
local = [1]
features = ["vector code", "recursion"]
args = [
  { name = "in", value = "rand:u32:N*16:5" },
  { name = "out", value = "zeros:u32:N*16", check = "exact", why = "integers" },
  { name = "n", value = "u32:7" },
]
*/
kernel void calls(global const uint *in, global uint *out, uint n) {
    for (size_t i = get_global_id(0) * 16, end = i + 16; i < end; i++) {
        uint x = in[i], r = 0;
        for (uint k = 0; k < n; k++) r = (r * 3 ^ x) + x;
        out[i] = r;
    }
}
