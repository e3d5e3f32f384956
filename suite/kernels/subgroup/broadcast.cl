/* envisa
about = "Sub-group broadcast from fixed and computed lanes, of several widths"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["sub-group", "broadcast", "i32", "i64"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32x4:N", check = "exact", why = "moves and integers" },
  { name = "lane", value = "u32:11" },
]
*/
#ifdef PEER
kernel void broadcast(global const int *in, global int4 *out, uint lane)
{
    size_t i = get_global_id(0), b = i & ~(size_t)15;
    long l = (long)in[b + 2] * 100003;
    out[i] = (int4)(in[b + 5], in[b + lane], (int)(l >> 7), (short)in[b + 15]);
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void broadcast(global const int *in, global int4 *out, uint lane)
{
    size_t i = get_global_id(0);
    int v = in[i];
    long l = sub_group_broadcast((long)v * 100003, 2);
    out[i] = (int4)(sub_group_broadcast(v, 5), sub_group_broadcast(v, lane), (int)(l >> 7),
                    (int)sub_group_broadcast((short)v, 15));
}
#endif
