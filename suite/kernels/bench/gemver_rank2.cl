/* envisa
about = "A matrix and two outer products: A += u1 v1' + u2 v2'"
sizes = { N = 64 }
bench = { N = 2048 }
slow = { N = 512 }
global = ["N", "N"]
local = [32, 8]
cost = { bytes = "N*N*8", flops = "N*N*4" }
features = ["f32", "fma", "2d-range"]
args = [
  { name = "a", value = "rand:f32:N*N:1", check = "exact", why = "explicit fma in one order" },
  { name = "u1", value = "rand:f32:N:2" },
  { name = "v1", value = "rand:f32:N:3" },
  { name = "u2", value = "rand:f32:N:4" },
  { name = "v2", value = "rand:f32:N:5" },
  { name = "n", value = "u32:N" },
]
*/
kernel void gemver_rank2(global float *a, global const float *u1, global const float *v1, global const float *u2,
                         global const float *v2, uint n)
{
    uint col = get_global_id(0), row = get_global_id(1);
    a[row * n + col] = fma(u2[row], v2[col], fma(u1[row], v1[col], a[row * n + col]));
}
