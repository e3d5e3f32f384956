/* envisa
about = "y = a * x + y in half precision"
sizes = { N = 1000 }
bench = { N = 4194304 }
slow = { N = 524288 }
global = ["N"]
local = [50]
bench_local = [256]
cost = { bytes = "N*6", flops = "N*2" }
features = ["f16"]
args = [
  { name = "x", value = "rand:f16:N:1" },
  { name = "y", value = "rand:f16:N:2", check = "exact", why = "product and sum of halves each rounded to half; both are exact in float before rounding, so rounding twice equals rounding once" },
  { name = "a", value = "f32:1.5" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
#ifdef PEER
/* The peers lack cl_khr_fp16: the same roundings through vstore_half. */
kernel void axpy_half(global const half *x, global half *y, float a)
{
    size_t i = get_global_id(0);
    union { ushort u[2]; uint w; } t;
    private half *p = (private half *)&t;
    vstore_half(a * vload_half(i, x), 0, p);
    vstore_half(vload_half(0, p) + vload_half(i, y), i, y);
}
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void axpy_half(global const half *x, global half *y, float a)
{
    size_t i = get_global_id(0);
    half p = (half)a * x[i];
    y[i] = p + y[i];
}
#endif
