/* envisa
about = "Matrix transpose straight from and to global memory"
sizes = { W = 64, H = 32 }
bench = { W = 2048, H = 2048 }
slow = { W = 1024, H = 512 }
global = ["W", "H"]
local = [16, 16]
cost = { bytes = "W*H*8" }
bound = "scatters: the channels of a store go to lines 8 KiB apart, which all fall into one set of the first cache"
features = ["f32", "2d-range"]
args = [
  { name = "in", value = "rand:f32:W*H:3" },
  { name = "out", value = "zeros:f32:W*H", check = "exact", why = "moves only" },
  { name = "w", value = "u32:W" },
  { name = "h", value = "u32:H" },
]
*/
kernel void transpose_naive(global const float *in, global float *out, uint w, uint h)
{
    uint x = get_global_id(0), y = get_global_id(1);
    out[x * h + y] = in[y * w + x];
}
