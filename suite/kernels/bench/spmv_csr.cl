/* envisa
about = "Sparse matrix (CSR) times vector, one row per work-item, rows of 0 to 15 entries"
sizes = { N = 256, C = 1024 }
bench = { N = 1048576, C = 1048576 }
slow = { N = 131072, C = 1048576 }
global = ["N"]
local = [64]
cost = { bytes = "N*136+C*4", flops = "N*15", note = "rows hold 7.5 elements on average" }
bound = "gathers, of channels along rows of their own and at random, for the longest of 32 rows: half of the channels are off"
features = ["f32", "gather", "loop", "divergence", "fma"]
args = [
  { name = "len", value = "rand:u32:N:1:0..16" },
  { name = "col", value = "rand:u32:N*16:2:0..C" },
  { name = "val", value = "rand:f32:N*16:3" },
  { name = "x", value = "rand:f32:C:4" },
  { name = "y", value = "zeros:f32:N", check = "exact", why = "every step is an explicit fma in one order" },
]
*/
kernel void spmv_csr(global const uint *len, global const uint *col, global const float *val,
                     global const float *x, global float *y)
{
    size_t row = get_global_id(0);
    uint begin = row * 16, end = begin + len[row];
    float s = 0.0f;
    for (uint i = begin; i < end; i++)
        s = fma(val[i], x[col[i]], s);
    y[row] = s;
}
