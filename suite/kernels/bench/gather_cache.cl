/* envisa
about = "Random gathers from a table that fits the cache"
sizes = { N = 1024, T = 256 }
bench = { N = 4194304, T = 4096 }
slow = { N = 524288, T = 4096 }
global = ["N"]
local = [128]
cost = { bytes = "N*8" }
features = ["i32", "gather"]
args = [
  { name = "table", value = "rand:u32:T:1" },
  { name = "index", value = "rand:u32:N:2:0..T" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
  { name = "mask", value = "u32:T-1" },
]
*/
kernel void gather_cache(global const uint *table, global const uint *index, global uint *out, uint mask)
{
    uint i = get_global_id(0);
    uint k = index[i];
    out[i] = table[k] ^ table[(k * 5 + 1) & mask];
}
