/* envisa
about = "vector code: buffers of the binding table, in blocks, and atomics on every other channel"
vector = true
sizes = { N = 6 }
global = ["N"]
local = [1]
features = ["vector code", "binding table", "atomics"]
args = [
  { name = "in", value = "rand:u32:N*16:6" },
  { name = "out", value = "zeros:u32:N*16", check = "exact", why = "integers" },
  { name = "sum", value = "zeros:u32:16", check = "exact", why = "sums of integers in any order" },
]
*/
kernel void buffers(global const uint *in, global uint *out, global uint *sum) {
    for (uint i = 0; i < 16; i++) {
        uint x = in[get_global_id(0) * 16 + i];
        out[get_global_id(0) * 16 + i] = x * (i + 1);
        if (i % 2 == 0) atomic_add(&sum[i], x);
    }
}
