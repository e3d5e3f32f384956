/* envisa
about = "Sub-group sum, minimum and maximum"
sizes = { N = 128 }
global = ["N"]
local = [64]
features = ["sub-group", "reduce", "i32", "f32"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "integers; the float sum is of small whole numbers" },
]
*/
#ifdef PEER
kernel void reduce(global const int *in, global int4 *out)
{
    size_t i = get_global_id(0), b = i & ~(size_t)15;
    int s = 0, lo = INT_MAX, hi = INT_MIN, f = 0;
    for (int k = 0; k < 16; k++) {
        int v = in[b + k];
        s += v; lo = min(lo, v); hi = max(hi, v); f += v & 15;
    }
    out[i] = (int4)(s, lo, hi, f);
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void reduce(global const int *in, global int4 *out)
{
    size_t i = get_global_id(0);
    int v = in[i];
    out[i] = (int4)(sub_group_reduce_add(v), sub_group_reduce_min(v), sub_group_reduce_max(v),
                    (int)sub_group_reduce_add((float)(v & 15)));
}
#endif
