/* envisa
about = "A group whose size is no multiple of the SIMD width, with barriers"
sizes = { N = 140 }
global = ["N"]
local = [35]
features = ["slm", "barrier", "dispatch-mask"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
kernel void partial_group(global const int *in, global int *out)
{
    local int t[64];
    uint l = get_local_id(0), n = get_local_size(0);
    t[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (uint k = 0; k < n; k++)
        s += t[k] >> (k & 3);
    out[get_global_id(0)] = s - t[(l + 1) % n];
}
