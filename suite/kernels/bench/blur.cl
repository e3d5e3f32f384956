/* envisa
about = "3 x 3 binomial blur of RGBA bytes with rounding"
sizes = { W = 48, H = 32 }
bench = { W = 2048, H = 2048 }
slow = { W = 256, H = 256 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*8" }
features = ["u8x4", "convert", "2d-range"]
args = [
  { name = "in", value = "rand:u8x4:W*H:1" },
  { name = "out", value = "zeros:u8x4:W*H", check = "exact", why = "integers" },
]
*/
kernel void blur(global const uchar4 *in, global uchar4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    uint4 s = (uint4)(8);
    for (int dy = -1; dy <= 1; dy++) {
        int sy = clamp(y + dy, 0, h - 1);
        for (int dx = -1; dx <= 1; dx++) {
            int sx = clamp(x + dx, 0, w - 1);
            uint k = (2 - abs(dx)) * (2 - abs(dy));
            s += convert_uint4(in[sy * w + sx]) * k;
        }
    }
    out[y * w + x] = convert_uchar4(s >> 4);
}
