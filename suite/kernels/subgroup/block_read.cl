/* envisa
about = "Intel sub-group block reads and writes of 1, 2 and 4 words"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["sub-group", "block-read", "block-write", "i32"]
args = [
  { name = "in", value = "rand:u32:N*4:1" },
  { name = "out", value = "zeros:u32:N*4", check = "exact", why = "moves and integers" },
]
*/
#ifdef PEER
kernel void block_read(global const uint *in, global uint *out)
{
    size_t i = get_global_id(0), sg = i / 16, l = i % 16;
    for (int k = 0; k < 4; k++) {
        uint v = in[sg * 64 + k * 16 + l];
        out[sg * 64 + k * 16 + l] = v + k + in[sg * 64 + l] + in[sg * 64 + (k & 1) * 16 + l];
    }
}
#else
kernel __attribute__((intel_reqd_sub_group_size(16)))
void block_read(global const uint *in, global uint *out)
{
    size_t sg = get_global_id(0) / 16;
    uint4 v = intel_sub_group_block_read4(in + sg * 64);
    uint2 w = intel_sub_group_block_read2(in + sg * 64);
    uint u = intel_sub_group_block_read(in + sg * 64);
    intel_sub_group_block_write4(out + sg * 64, v + (uint4)(0, 1, 2, 3) + (uint4)(u) + (uint4)(w, w));
}
#endif
