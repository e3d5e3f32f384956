/* envisa
about = "Shuffles of short, long and float4"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["sub-group", "shuffle", "i16", "i64", "f32x4"]
args = [
  { name = "in", value = "rand:i64:N:1" },
  { name = "out", value = "zeros:i64:N*3", check = "exact", why = "moves and integers" },
]
*/
#ifdef PEER
kernel void shuffle_types(global const long *in, global long *out)
{
    size_t i = get_global_id(0), b = i & ~(size_t)15;
    uint l = i & 15;
    out[i * 3] = in[b + (15 - l)];
    out[i * 3 + 1] = (short)in[b + (l ^ 8)];
    int x = (int)(in[b + ((l + 1) & 15)] & 0xffff), y = x + 1;
    out[i * 3 + 2] = x * 3 + y;
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void shuffle_types(global const long *in, global long *out)
{
    size_t i = get_global_id(0);
    uint l = get_sub_group_local_id();
    long v = in[i];
    out[i * 3] = intel_sub_group_shuffle(v, 15 - l);
    out[i * 3 + 1] = intel_sub_group_shuffle_xor((short)v, 8);
    float f = (float)(int)(v & 0xffff);
    float4 w = intel_sub_group_shuffle((float4)(f, f + 1.0f, 0.0f, 0.0f), (l + 1) & 15);
    out[i * 3 + 2] = (int)w.x * 3 + (int)w.y;
}
#endif
