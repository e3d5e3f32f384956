/* envisa
about = "Intel sub-group shuffles: by computed lane, xor, up and down"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["sub-group", "shuffle", "indirect", "i32"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "next", value = "rand:i32:N:2" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "moves only" },
]
*/
#ifdef PEER
kernel void shuffle_lanes(global const int *in, global const int *next, global int4 *out)
{
    size_t i = get_global_id(0), b = i & ~(size_t)15;
    uint l = i & 15;
    out[i] = (int4)(in[b + ((l * 7 + 3) & 15)], in[b + (l ^ 5)], l + 3 < 16 ? in[b + l + 3] : next[b + l + 3 - 16],
                    l >= 2 ? next[b + l - 2] : in[b + 16 + l - 2]);
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void shuffle_lanes(global const int *in, global const int *next, global int4 *out)
{
    size_t i = get_global_id(0);
    uint l = get_sub_group_local_id();
    int v = in[i], n = next[i];
    out[i] = (int4)(intel_sub_group_shuffle(v, (l * 7 + 3) & 15), intel_sub_group_shuffle_xor(v, 5),
                    intel_sub_group_shuffle_down(v, n, 3), intel_sub_group_shuffle_up(v, n, 2));
}
#endif
