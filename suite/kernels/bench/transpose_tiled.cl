/* envisa
about = "Matrix transpose by padded tiles in local memory"
sizes = { W = 64, H = 32 }
bench = { W = 2048, H = 2048 }
slow = { W = 512, H = 512 }
global = ["W", "H"]
local = [16, 16]
cost = { bytes = "W*H*8" }
features = ["f32", "slm", "barrier", "2d-range"]
args = [
  { name = "in", value = "rand:f32:W*H:3" },
  { name = "out", value = "zeros:f32:W*H", check = "exact", why = "moves only" },
  { name = "w", value = "u32:W" },
  { name = "h", value = "u32:H" },
]
*/
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void transpose_tiled(global const float *in, global float *out, uint w, uint h)
{
    local float tile[T][T + 1];
    uint lx = get_local_id(0), ly = get_local_id(1);
    uint x = get_group_id(0) * T, y = get_group_id(1) * T;
    tile[ly][lx] = in[(y + ly) * w + x + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(x + ly) * h + y + lx] = tile[lx][ly];
}
