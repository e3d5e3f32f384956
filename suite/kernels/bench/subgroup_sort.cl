/* envisa
about = "Blocks of 16 sorted by exchanges within sub-groups"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 32768 }
global = ["N"]
local = [128]
cost = { bytes = "N*8" }
bound = "exchanges that wait for each other: what a shuffle turns was stored just before"
features = ["sub-group", "shuffle", "i32", "select"]
args = [
  { name = "data", value = "rand:u32:N:1", check = "exact", why = "integers" },
]
*/
#ifdef PEER
/* The peers lack shuffles of 16: the same network in local memory. */
kernel void subgroup_sort(global uint *data)
{
    local uint t[128];
    uint i = get_global_id(0), l = get_local_id(0), lane = l % 16, v = data[i];
    for (uint size = 2; size <= 16; size *= 2) {
        for (uint d = size / 2; d > 0; d /= 2) {
            t[l] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = t[l ^ d];
            barrier(CLK_LOCAL_MEM_FENCE);
            bool least = ((lane & d) == 0) == ((lane & size) == 0);
            v = least ? min(v, other) : max(v, other);
        }
    }
    data[i] = v;
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void subgroup_sort(global uint *data)
{
    uint i = get_global_id(0), lane = get_sub_group_local_id(), v = data[i];
    for (uint size = 2; size <= 16; size *= 2) {
        for (uint d = size / 2; d > 0; d /= 2) {
            uint other = intel_sub_group_shuffle_xor(v, d);
            bool least = ((lane & d) == 0) == ((lane & size) == 0);
            v = least ? min(v, other) : max(v, other);
        }
    }
    data[i] = v;
}
#endif
