/* envisa
about = "Static local memory, partly never written, read at a stride of five work-items"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["slm", "barrier"]
known = [
  { output = "out", elements = 24, with_avx512 = true, why = "PoCL's work-item vectoriser reads the wrong elements of `s`: Oclgrind gives envisa's values (`peers --peer oclgrind,pocl`), and local/dynamic, the same with shorts and a stride of one, agrees everywhere" },
]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "t", value = "local:32*4" },
  { name = "c", value = "local:32" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
kernel void stride_five(global const int *in, local int *t, local uchar *c, global int *out)
{
    local int s[40];
    uint l = get_local_id(0);
    int v = in[get_global_id(0)];
    t[l] = v;
    c[l] = v >> 4;
    s[l + 3] = v >> 8;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint k = 31 - l;
    out[get_global_id(0)] = t[k] + c[l ^ 1] * 3 + s[((l * 5) & 31) + 3];
}
