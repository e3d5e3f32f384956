/* envisa
about = "Intel sub-group block reads and writes of 16-bit words"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["sub-group", "block-read", "block-write", "i16"]
args = [
  { name = "in", value = "rand:u16:N*2:1" },
  { name = "out", value = "zeros:u16:N*2", check = "exact", why = "integers" },
]
*/
#ifdef PEER
kernel void block_read_us(global const ushort *in, global ushort *out)
{
    size_t i = get_global_id(0), sg = i / 16, l = i % 16;
    ushort x = in[sg * 32 + l], y = in[sg * 32 + 16 + l];
    out[sg * 32 + l] = y;
    out[sg * 32 + 16 + l] = x * 3;
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void block_read_us(global const ushort *in, global ushort *out)
{
    size_t sg = get_global_id(0) / 16;
    ushort2 v = intel_sub_group_block_read_us2(in + sg * 32);
    intel_sub_group_block_write_us2(out + sg * 32, (ushort2)(v.y, v.x * (ushort)3));
}
#endif
