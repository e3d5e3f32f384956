/* envisa
about = "A work-item a row, in a loop with a store: a recurrence along the row"
sizes = { N = 256 }
global = ["N"]
local = [32]
features = ["f32", "loop"]
args = [
  { name = "a", value = "rand:f32:N*N:9", check = "exact", why = "one fused operation" },
  { name = "n", value = "i32:N" },
]
*/
kernel void row_loop_store(global float *a, int n)
{
    global float *row = a + get_global_id(0) * n;
    for (int k = 1; k < n; k++)
        row[k] = fma(row[k - 1], 0.5f, row[k]);
}
