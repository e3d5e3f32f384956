/* envisa
about = "vector code: 16 elements a thread, in blocks, with a group's place among groups"
vector = true
sizes = { N = 24 }
global = ["N"]
local = [3]
features = ["vector code", "blocks"]
args = [
  { name = "a", value = "rand:u32:N*16:1" },
  { name = "b", value = "rand:u32:N*16:2" },
  { name = "c", value = "zeros:u32:N*16", check = "exact", why = "integers" },
]
*/
kernel void vadd(global const uint *a, global const uint *b, global uint *c) {
    for (size_t i = get_global_id(0) * 16, end = i + 16; i < end; i++) c[i] = a[i] + b[i];
}
