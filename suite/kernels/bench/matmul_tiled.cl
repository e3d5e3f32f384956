/* envisa
about = "C = A * B by 16 x 16 tiles in local memory"
sizes = { M = 32, N = 48, K = 64 }
bench = { M = 512, N = 512, K = 512 }
slow = { M = 32, N = 64, K = 512 }
global = ["N", "M"]
local = [16, 16]
cost = { bytes = "4*(M*K+K*N+M*N)", flops = "2*M*N*K" }
features = ["f32", "fma", "slm", "barrier", "loop", "2d-range"]
args = [
  { name = "a", value = "rand:f32:M*K:1" },
  { name = "b", value = "rand:f32:K*N:2" },
  { name = "c", value = "zeros:f32:M*N", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "n", value = "u32:N" },
  { name = "k", value = "u32:K" },
]
*/
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void matmul_tiled(global const float *a, global const float *b, global float *c, uint n, uint k)
{
    local float ta[T][T], tb[T][T];
    uint lx = get_local_id(0), ly = get_local_id(1);
    uint col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (uint t = 0; t < k; t += T) {
        ta[ly][lx] = a[row * k + t + lx];
        tb[ly][lx] = b[(t + ly) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < T; i++)
            s = fma(ta[ly][i], tb[i][lx], s);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = s;
}
