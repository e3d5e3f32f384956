/* envisa
about = "Random gathers from a table far larger than the cache"
sizes = { N = 1024, T = 4096 }
bench = { N = 2097152, T = 33554432 }
slow = { N = 524288, T = 33554432 }
global = ["N"]
local = [128]
cost = { bytes = "N*136", note = "a line of 64 bytes for each of the two accesses of a work-item" }
features = ["i32", "gather"]
args = [
  { name = "table", value = "iota:u32:T" },
  { name = "index", value = "rand:u32:N:2" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
  { name = "mask", value = "u32:T-1" },
]
*/
kernel void gather_memory(global const uint *table, global const uint *index, global uint *out, uint mask)
{
    uint i = get_global_id(0);
    uint k = index[i];
    out[i] = table[k & mask] + table[(k >> 7) & mask];
}
