/* envisa
about = "STREAM triad: a = b + s * c"
sizes = { N = 1000 }
bench = { N = 4194304 }
slow = { N = 1048576 }
global = ["N"]
local = [50]
bench_local = [256]
cost = { bytes = "N*12", flops = "N*2" }
bound = "memory, and what a thread costs beside it: it moves 384 bytes, for which it starts, checks where they are and ends"
features = ["f32", "affine"]
args = [
  { name = "a", value = "zeros:f32:N", check = "exact", why = "one multiply and one add, each correctly rounded, not contracted" },
  { name = "b", value = "rand:f32:N:1" },
  { name = "c", value = "rand:f32:N:2" },
  { name = "s", value = "f32:3" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void triad(global float *a, global const float *b, global const float *c, float s)
{
    size_t i = get_global_id(0);
    a[i] = b[i] + s * c[i];
}
