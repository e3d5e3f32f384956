/* envisa
about = "Mean of three neighbours of a picture with three bytes a pixel"
sizes = { W = 1026, H = 32 }
global = ["W-2", "H"]
local = [64, 1]
features = ["u8", "2d-range"]
args = [
  { name = "in", value = "rand:u8:3*W*H:9" },
  { name = "out", value = "zeros:u8:3*W*H", check = "exact", why = "integers" },
  { name = "w", value = "i32:W" },
]
*/
kernel void blur_rgb(global const uchar *in, global uchar *out, int w)
{
    int at = 3 * (get_global_id(1) * w + get_global_id(0) + 1);
    for (int c = 0; c < 3; c++)
        out[at + c] = (in[at + c - 3] + in[at + c] + in[at + c + 3]) / 3;
}
