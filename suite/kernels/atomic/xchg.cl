/* envisa
about = "Exchange in a ring: values move, none is lost"
sizes = { N = 64 }
global = ["N"]
local = [64]
features = ["atomic-global", "atomic-local", "xchg"]
args = [
  { name = "cell", value = "fill:u32:1:777", check = "any", why = "the last value written is open; it is checked through the set below" },
  { name = "out", value = "zeros:u32:N+1", check = "set", why = "each value leaves the cell once; the one that stays is appended" },
]
*/
/* One group: the barrier orders the last read. */
kernel void xchg(volatile global uint *cell, global uint *out)
{
    uint i = get_global_id(0);
    out[i] = atomic_xchg(cell, 1000 + i);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i == 0)
        out[get_global_size(0)] = atomic_or(cell, 0u);
}
