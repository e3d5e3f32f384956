/* envisa
about = "C = alpha * A * B + beta * C in double precision, one work-item an element"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { M = 32, N = 32, K = 24 }
bench = { M = 512, N = 512, K = 512 }
slow = { M = 64, N = 64, K = 256 }
global = ["N", "M"]
local = [16, 16]
cost = { bytes = "8*(M*K+K*N+2*M*N)", flops = "2*M*N*K" }
features = ["f64", "fma", "loop", "2d-range"]
args = [
  { name = "a", value = "rand:f64:M*K:1" },
  { name = "b", value = "rand:f64:K*N:2" },
  { name = "c", value = "rand:f64:M*N:3", check = "exact", why = "every step is an explicit fma in one order, one product" },
  { name = "alpha", value = "f64:1.5" },
  { name = "beta", value = "f64:0.75" },
  { name = "n", value = "u32:N" },
  { name = "k", value = "u32:K" },
]
*/
kernel void gemm_double(global const double *a, global const double *b, global double *c, double alpha, double beta,
                        uint n, uint k)
{
    uint col = get_global_id(0), row = get_global_id(1);
    double s = 0.0;
    for (uint i = 0; i < k; i++)
        s = fma(a[row * k + i], b[i * n + col], s);
    double scaled = beta * c[row * n + col];
    c[row * n + col] = fma(alpha, s, scaled);
}
