/* envisa
about = "Prefix sums of blocks of 256: by sub-groups, then over their sums"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 65536 }
global = ["N"]
local = [256]
cost = { bytes = "N*8" }
features = ["sub-group", "scan", "i32", "slm", "barrier"]
args = [
  { name = "in", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integer sums" },
]
*/
#define T 256
#ifdef PEER
/* Sub-groups of the peers have other sizes, or there are none: steps of doubled distance in local memory. */
kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void subgroup_scan(global const uint *in, global uint *out)
{
    local uint t[T];
    uint l = get_local_id(0), s = in[get_global_id(0)];
    for (uint d = 1; d < T; d *= 2) {
        t[l] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l >= d)
            s += t[l - d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = s;
}
#else
kernel __attribute__((reqd_work_group_size(T, 1, 1), intel_reqd_sub_group_size(16)))
void subgroup_scan(global const uint *in, global uint *out)
{
    local uint t[T / 16];
    uint g = get_sub_group_id(), l = get_sub_group_local_id();
    uint s = sub_group_scan_inclusive_add(in[get_global_id(0)]);
    if (l == 15)
        t[g] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = sub_group_scan_exclusive_add(t[l]);
    out[get_global_id(0)] = s + sub_group_broadcast(before, g);
}
#endif
