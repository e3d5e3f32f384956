/* envisa
about = "work_group_reduce, work_group_broadcast, work_group_any and work_group_all"
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
kernel void reduce_broadcast(global const int *in, global int4 *out)
{
    uint g = get_group_id(0), n = get_local_size(0);
    int s = 0, lo = INT_MAX, hi = INT_MIN, any = 0, all = 1;
    for (uint k = 0; k < n; k++) {
        int w = in[g * n + k];
        s += w;
        lo = min(lo, w);
        hi = max(hi, w);
        any |= w > 900;
        all &= w > 0;
    }
    out[get_global_id(0)] = (int4)(s, lo ^ hi, in[g * n + 5], any * 2 + all);
}
#else
kernel void reduce_broadcast(global const int *in, global int4 *out)
{
    int v = in[get_global_id(0)];
    int s = work_group_reduce_add(v), lo = work_group_reduce_min(v), hi = work_group_reduce_max(v);
    int b = work_group_broadcast(v, 5);
    int any = work_group_any(v > 900), all = work_group_all(v > 0);
    out[get_global_id(0)] = (int4)(s, lo ^ hi, b, (any != 0) * 2 + (all != 0));
}
#endif
