/* envisa
about = "A step of Gauss's elimination in which work-items next to each other are rows"
sizes = { N = 256 }
global = ["N", "N"]
local = [16, 16]
features = ["f32", "2d-range"]
args = [
  { name = "m", value = "rand:f32:N*N:9" },
  { name = "a", value = "rand:f32:N*N:10", check = "exact", why = "one fused operation" },
  { name = "n", value = "i32:N" },
  { name = "t", value = "i32:3" },
]
*/
kernel void columns_by_x(global const float *m, global float *a, int n, int t)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n - 1 - t || y >= n - t)
        return;
    int row = n * (x + 1 + t);
    a[row + y + t] = fma(-m[row + t], a[n * t + y + t], a[row + y + t]);
}
