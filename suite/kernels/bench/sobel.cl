/* envisa
about = "Sobel's edges of grey bytes: size of the gradient, saturated; the border is black"
sizes = { W = 48, H = 32 }
bench = { W = 2048, H = 2048 }
slow = { W = 256, H = 256 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*2" }
features = ["u8", "f32", "sqrt", "convert", "divergence", "2d-range"]
args = [
  { name = "in", value = "rand:u8:W*H:1" },
  { name = "out", value = "zeros:u8:W*H", check = "rel 0 abs 1", why = "sqrt may differ by 3 ulp (OpenCL), and a root near a whole number fall on either side of it" },
]
*/
kernel void sobel(global const uchar *in, global uchar *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    int at = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[at] = 0;
        return;
    }
    int nw = in[at - w - 1], n = in[at - w], ne = in[at - w + 1];
    int west = in[at - 1], east = in[at + 1];
    int sw = in[at + w - 1], s = in[at + w], se = in[at + w + 1];
    int gx = ne + 2 * east + se - nw - 2 * west - sw;
    int gy = sw + 2 * s + se - nw - 2 * n - ne;
    out[at] = convert_uchar_sat(sqrt((float)(gx * gx + gy * gy)));
}
