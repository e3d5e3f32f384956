/* envisa
about = "x = z + beta A' y, a column per work-item"
sizes = { N = 96 }
bench = { N = 2048 }
slow = { N = 512 }
global = ["N"]
local = [32]
cost = { bytes = "N*N*4", flops = "N*N*2" }
features = ["f32", "fma", "loop"]
args = [
  { name = "a", value = "rand:f32:N*N:1" },
  { name = "y", value = "rand:f32:N:2" },
  { name = "z", value = "rand:f32:N:3" },
  { name = "x", value = "zeros:f32:N", check = "exact", why = "explicit fma in one order" },
  { name = "beta", value = "f32:0.75" },
  { name = "n", value = "u32:N" },
]
*/
kernel void gemver_column(global const float *a, global const float *y, global const float *z, global float *x,
                          float beta, uint n)
{
    uint col = get_global_id(0);
    float s = z[col];
    for (uint i = 0; i < n; i++)
        s = fma(a[i * n + col], beta * y[i], s);
    x[col] = s;
}
