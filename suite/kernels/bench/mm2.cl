/* envisa
about = "D = T * C + beta * D, the second of two products; sums are kept in memory"
sizes = { N = 32, K = 24 }
bench = { N = 512, K = 256 }
slow = { N = 64, K = 128 }
global = ["N", "N"]
local = [32, 8]
cost = { bytes = "N*K*8+N*N*8", flops = "N*N*K*2" }
features = ["f32", "fma", "loop", "2d-range"]
args = [
  { name = "t", value = "rand:f32:N*K:1" },
  { name = "c", value = "rand:f32:K*N:2" },
  { name = "d", value = "rand:f32:N*N:3", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "beta", value = "f32:0.75" },
  { name = "n", value = "u32:N" },
  { name = "k", value = "u32:K" },
]
*/
kernel void mm2(global const float *t, global const float *c, global float *d, float beta, uint n, uint k)
{
    uint col = get_global_id(0), row = get_global_id(1);
    d[row * n + col] *= beta;
    for (uint i = 0; i < k; i++)
        d[row * n + col] = fma(t[row * k + i], c[i * n + col], d[row * n + col]);
}
