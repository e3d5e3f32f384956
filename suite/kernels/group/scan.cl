/* envisa
about = "work_group_scan, inclusive and exclusive"
sizes = { N = 192 }
global = ["N"]
local = [64]
features = ["work-group-function", "barrier", "slm", "i32"]
args = [
  { name = "in", value = "rand:i32:N:1:0..1000" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void scan(global const int *in, global int4 *out)
{
    uint g = get_group_id(0), n = get_local_size(0), l = get_local_id(0);
    int inc = 0, exc = 0, lo = INT_MAX, hi = INT_MIN;
    for (uint k = 0; k <= l; k++) {
        int w = in[g * n + k];
        inc += w;
        exc += k < l ? w : 0;
        lo = min(lo, w);
        hi = k < l ? max(hi, w) : hi;
    }
    out[get_global_id(0)] = (int4)(inc, exc, lo, hi);
}
#else
kernel void scan(global const int *in, global int4 *out)
{
    int v = in[get_global_id(0)];
    out[get_global_id(0)] = (int4)(work_group_scan_inclusive_add(v), work_group_scan_exclusive_add(v),
                                   work_group_scan_inclusive_min(v), work_group_scan_exclusive_max(v));
}
#endif
