/* envisa
about = "Local memory of every width, scalars and vectors"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["slm", "barrier", "u8", "i16", "i64", "f32x4"]
args = [
  { name = "in", value = "rand:u64:N:1" },
  { name = "out", value = "zeros:u64:N", check = "exact", why = "integers and moves" },
]
*/
kernel void types(global const ulong *in, global ulong *out)
{
    local uchar b[32];
    local ushort s[32];
    local ulong q[32];
    local uint4 v[32];
    uint l = get_local_id(0);
    ulong x = in[get_global_id(0)];
    b[l] = x;
    s[l] = x >> 8;
    q[l] = x * 3;
    v[l] = (uint4)((uint)x, (uint)(x >> 32), l, 5);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = (l * 11 + 3) & 31;
    uint4 w = v[k];
    out[get_global_id(0)] = q[k] + b[31 - k] + ((ulong)s[k ^ 7] << 20) + w.x * 5u + (w.y ^ w.z) + w.w;
}
