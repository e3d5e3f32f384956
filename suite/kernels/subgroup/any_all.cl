/* envisa
about = "Sub-group any and all, in uniform and in divergent code"
sizes = { N = 128 }
global = ["N"]
local = [64]
features = ["sub-group", "any", "all", "divergence"]
args = [
  { name = "in", value = "rand:i32:N:1:0..40" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void any_all(global const int *in, global int *out)
{
    size_t i = get_global_id(0), b = i & ~(size_t)15;
    int any38 = 0, all2 = 1;
    for (int k = 0; k < 16; k++) {
        any38 |= in[b + k] > 38;
        all2 &= in[b + k] > 2;
    }
    out[i] = any38 + all2 * 2 + (in[i] & 1 ? 16 : 0);
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void any_all(global const int *in, global int *out)
{
    size_t i = get_global_id(0);
    int v = in[i], r = 0;
    if (sub_group_any(v > 38))
        r += 1;
    if (sub_group_all(v > 2))
        r += 2;
    if (v & 1)
        r += 16;
    out[i] = r;
}
#endif
