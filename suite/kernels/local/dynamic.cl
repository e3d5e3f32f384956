/* envisa
about = "Two __local arguments beside static local memory, of different types"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["slm", "local-argument", "barrier", "u8"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "t", value = "local:32*4" },
  { name = "c", value = "local:32" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
kernel void dynamic(global const int *in, local int *t, local uchar *c, global int *out)
{
    local short s[40];
    uint l = get_local_id(0);
    int v = in[get_global_id(0)];
    t[l] = v;
    c[l] = v >> 4;
    s[l + 3] = v >> 8;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = 31 - l;
    out[get_global_id(0)] = t[k] + c[l ^ 1] * 3 + s[((l + 9) & 31) + 3];
}
