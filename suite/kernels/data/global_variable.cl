/* envisa
about = "Program-scope global variables, read and updated"
sizes = { N = 64 }
global = ["N"]
local = [64]
features = ["global-variable", "atomic-global", "barrier"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void global_variable(global const uint *a, global uint *out)
{
    uint i = get_global_id(0), n = get_global_size(0);
    out[i] = a[n - 1 - i] + (i & 3) * 100 + 5;
}
#else
global uint scratch[64];
global uint table[4] = { 5, 105, 205, 305 };
kernel void global_variable(global const uint *a, global uint *out)
{
    uint i = get_global_id(0), n = get_global_size(0);
    scratch[i] = a[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = scratch[n - 1 - i] + table[i & 3];
}
#endif
