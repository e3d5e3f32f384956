/* envisa
about = "A picture filled with one value"
sizes = { W = 512, H = 256 }
global = ["W", "H"]
local = [16, 8]
features = ["f32", "2d-range"]
args = [
  { name = "out", value = "zeros:f32:W*H", check = "exact", why = "copies" },
  { name = "v", value = "f32:1.5" },
  { name = "w", value = "i32:W" },
]
*/
kernel void fill_2d(global float *out, float v, int w)
{
    out[get_global_id(1) * w + get_global_id(0)] = v;
}
