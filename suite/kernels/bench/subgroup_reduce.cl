/* envisa
about = "Sum, least and largest of each sub-group of 16"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 262144 }
global = ["N"]
local = [128]
cost = { bytes = "N*4+N/16*16" }
bound = "halves and quarters of vectors: the compiler adds 16, 8, 4, 2 and single elements; and the one channel that stores"
features = ["sub-group", "reduce", "i32", "divergence"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32x4:N/16", check = "exact", why = "integers" },
]
*/
#ifdef PEER
/* Sub-groups of the peers have other sizes, or there are none: the first of 16 work-items does it. */
kernel void subgroup_reduce(global const int *in, global int4 *out)
{
    size_t i = get_global_id(0);
    if (i % 16 != 0)
        return;
    int sum = 0, least = INT_MAX, most = INT_MIN;
    for (int k = 0; k < 16; k++) {
        int v = in[i + k];
        sum += v;
        least = min(least, v);
        most = max(most, v);
    }
    out[i / 16] = (int4)(sum, least, most, in[i]);
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void subgroup_reduce(global const int *in, global int4 *out)
{
    size_t i = get_global_id(0);
    int v = in[i];
    int4 all = (int4)(sub_group_reduce_add(v), sub_group_reduce_min(v), sub_group_reduce_max(v),
                      sub_group_broadcast(v, 0));
    if (get_sub_group_local_id() == 0)
        out[i / 16] = all;
}
#endif
