/* envisa
about = "half: sums, products, comparisons, selection"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["f16", "compare"]
args = [
  { name = "a", value = "rand:f16:N:1:-4..4" },
  { name = "b", value = "rand:f16:N:2:-4..4" },
  { name = "out", value = "zeros:f16:N*5", check = "exact", why = "sum, difference and product of halves are exact enough in float that rounding twice equals rounding once" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
#ifdef PEER
kernel void half_ops(global const half *a, global const half *b, global half *out)
{
    size_t i = get_global_id(0);
    float x = vload_half(i, a), y = vload_half(i, b);
    vstore_half(x + y, i * 5, out);
    vstore_half(x - y, i * 5 + 1, out);
    vstore_half(x * y, i * 5 + 2, out);
    vstore_half(fmax(x, fabs(y)), i * 5 + 3, out);
    vstore_half(x < y ? -x : y, i * 5 + 4, out);
}
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void half_ops(global const half *a, global const half *b, global half *out)
{
    size_t i = get_global_id(0);
    half x = a[i], y = b[i];
    out[i * 5] = x + y;
    out[i * 5 + 1] = x - y;
    out[i * 5 + 2] = x * y;
    out[i * 5 + 3] = fmax(x, fabs(y));
    out[i * 5 + 4] = x < y ? -x : y;
}
#endif
