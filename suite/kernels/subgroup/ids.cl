/* envisa
about = "Sub-group ids and sizes, the last sub-group of a group being smaller"
sizes = { N = 80 }
global = ["N"]
local = [40]
features = ["sub-group", "work-item", "dispatch-mask"]
args = [
  { name = "out", value = "zeros:u32x4:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void ids(global uint4 *out)
{
    uint l = get_local_id(0), n = get_local_size(0), s = l / 16;
    out[get_global_id(0)] = (uint4)(s, l % 16, min(16u, n - s * 16), (n + 15) / 16 * 100 + 16);
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void ids(global uint4 *out)
{
    out[get_global_id(0)] = (uint4)(get_sub_group_id(), get_sub_group_local_id(), get_sub_group_size(),
                                    get_num_sub_groups() * 100 + get_max_sub_group_size());
}
#endif
