/* envisa
about = "C = A * B, one work-item an element"
sizes = { M = 32, N = 48, K = 40 }
bench = { M = 512, N = 512, K = 512 }
slow = { M = 32, N = 64, K = 512 }
global = ["N", "M"]
local = [16, 8]
cost = { bytes = "4*(M*K+K*N+M*N)", flops = "2*M*N*K" }
features = ["f32", "fma", "loop", "2d-range"]
args = [
  { name = "a", value = "rand:f32:M*K:1" },
  { name = "b", value = "rand:f32:K*N:2" },
  { name = "c", value = "zeros:f32:M*N", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "n", value = "u32:N" },
  { name = "k", value = "u32:K" },
]
*/
kernel void matmul_naive(global const float *a, global const float *b, global float *c, uint n, uint k)
{
    uint col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (uint i = 0; i < k; i++)
        s = fma(a[row * k + i], b[i * n + col], s);
    c[row * n + col] = s;
}
