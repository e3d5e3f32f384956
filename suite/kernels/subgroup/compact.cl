/* envisa
about = "Stream compaction: a sub-group scan and one global atomic per sub-group"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["sub-group", "scan", "atomic-global", "divergence"]
args = [
  { name = "in", value = "rand:u32:N:1" },
  { name = "count", value = "zeros:u32:1", check = "exact", why = "integers" },
  { name = "out", value = "zeros:u32:N", check = "set", why = "sub-groups append in any order; the values kept are the same" },
]
*/
#ifdef PEER
kernel void compact(global const uint *in, volatile global uint *count, global uint *out)
{
    uint v = in[get_global_id(0)];
    if ((v & 3) == 1)
        out[atomic_inc(count)] = v;
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void compact(global const uint *in, volatile global uint *count, global uint *out)
{
    uint v = in[get_global_id(0)];
    uint keep = (v & 3) == 1;
    uint at = sub_group_scan_exclusive_add(keep), total = sub_group_reduce_add(keep), base = 0;
    if (get_sub_group_local_id() == 0)
        base = atomic_add(count, total);
    base = sub_group_broadcast(base, 0);
    if (keep)
        out[base + at] = v;
}
#endif
