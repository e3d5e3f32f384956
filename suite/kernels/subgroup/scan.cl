/* envisa
about = "Sub-group inclusive and exclusive scans"
sizes = { N = 128 }
global = ["N"]
local = [64]
features = ["sub-group", "scan", "i32", "u32"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void scan(global const int *in, global int4 *out)
{
    size_t i = get_global_id(0), b = i & ~(size_t)15;
    int inc = 0, exc = 0, mx = INT_MIN;
    uint mn = UINT_MAX;
    for (size_t k = b; k <= i; k++) {
        int v = in[k];
        inc += v; mx = max(mx, v);
        if (k < i) { exc += v; mn = min(mn, as_uint(v)); }
    }
    out[i] = (int4)(inc, exc, mx, as_int(mn));
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void scan(global const int *in, global int4 *out)
{
    size_t i = get_global_id(0);
    int v = in[i];
    out[i] = (int4)(sub_group_scan_inclusive_add(v), sub_group_scan_exclusive_add(v),
                    sub_group_scan_inclusive_max(v), as_int(sub_group_scan_exclusive_min(as_uint(v))));
}
#endif
