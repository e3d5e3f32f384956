/* envisa
about = "The rest of a matrix less the product of a strip of 16 columns and a strip of 16 rows, by tiles in local memory"
sizes = { N = 48 }
bench = { N = 2048 }
slow = { N = 128 }
global = ["N", "N"]
local = [16, 16]
cost = { bytes = "N*N*8", flops = "N*N*32" }
features = ["f32", "fma", "slm", "barrier", "loop", "2d-range"]
args = [
  { name = "left", value = "rand:f32:N*16:1" },
  { name = "above", value = "rand:f32:N*16:2" },
  { name = "rest", value = "rand:f32:N*N:3", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "n", value = "u32:N" },
]
*/
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void lu_internal(global const float *left, global const float *above, global float *rest, uint n)
{
    local float a[T][T], b[T][T];
    uint lx = get_local_id(0), ly = get_local_id(1);
    uint col = get_global_id(0), row = get_global_id(1);
    a[ly][lx] = left[row * T + lx];
    b[ly][lx] = above[ly * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (uint k = 0; k < T; k++)
        s = fma(a[ly][k], b[k][lx], s);
    rest[row * n + col] -= s;
}
