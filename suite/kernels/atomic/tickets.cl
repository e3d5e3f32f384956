/* envisa
about = "Returned old values: every ticket is drawn exactly once"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["atomic-global", "return-value", "divergence"]
args = [
  { name = "next", value = "zeros:u32:2", check = "exact", why = "integers" },
  { name = "out", value = "zeros:u32:N", check = "set", why = "who draws which ticket is open; the set is not" },
]
*/
kernel void tickets(volatile global uint *next, global uint *out)
{
    uint i = get_global_id(0);
    if (i & 1)
        out[i] = atomic_inc(&next[0]);
    else
        out[i] = 1000 + atomic_add(&next[1], 3u);
}
