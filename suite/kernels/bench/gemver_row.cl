/* envisa
about = "w = alpha A x, a row per work-item: neighbours are a row apart"
sizes = { N = 96 }
bench = { N = 2048 }
slow = { N = 512 }
global = ["N"]
local = [32]
cost = { bytes = "N*N*4", flops = "N*N*2" }
bound = "lines of 32 rows, 8 KiB apart, which are loaded and turned while those before them are used"
features = ["f32", "fma", "loop", "gather"]
args = [
  { name = "a", value = "rand:f32:N*N:1" },
  { name = "x", value = "rand:f32:N:2" },
  { name = "w", value = "zeros:f32:N", check = "exact", why = "explicit fma in one order, one product" },
  { name = "alpha", value = "f32:1.25" },
  { name = "n", value = "u32:N" },
]
*/
kernel void gemver_row(global const float *a, global const float *x, global float *w, float alpha, uint n)
{
    uint row = get_global_id(0);
    float s = 0.0f;
    for (uint i = 0; i < n; i++)
        s = fma(a[row * n + i], x[i], s);
    w[row] = alpha * s;
}
