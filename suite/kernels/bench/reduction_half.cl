/* envisa
about = "Sum of each group of halves by a tree in local memory"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 65536 }
global = ["N"]
local = [128]
cost = { bytes = "N*2" }
features = ["f16", "slm", "barrier", "divergence"]
args = [
  { name = "in", value = "rand:f16:N:1" },
  { name = "out", value = "zeros:f16:N/128", check = "exact", why = "sums of two halves, each rounded to half; they are exact in float before rounding" },
]
*/
#define T 128
#ifdef PEER
/* The peers lack cl_khr_fp16: the same roundings through vstore_half. */
kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void reduction_half(global const half *in, global half *out)
{
    local ushort t[T];
    local half *p = (local half *)t;
    uint l = get_local_id(0);
    vstore_half(vload_half(get_global_id(0), in), l, p);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = T / 2; s > 0; s >>= 1) {
        if (l < s)
            vstore_half(vload_half(l, p) + vload_half(l + s, p), l, p);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        vstore_half(vload_half(0, p), get_group_id(0), out);
}
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void reduction_half(global const half *in, global half *out)
{
    local half t[T];
    uint l = get_local_id(0);
    t[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = T / 2; s > 0; s >>= 1) {
        if (l < s)
            t[l] += t[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = t[0];
}
#endif
