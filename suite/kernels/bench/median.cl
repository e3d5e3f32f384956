/* envisa
about = "3 x 3 median of grey bytes with clamped borders, by a network of minima and maxima"
sizes = { W = 48, H = 32 }
bench = { W = 2048, H = 2048 }
slow = { W = 256, H = 256 }
global = ["W", "H"]
local = [16, 8]
cost = { bytes = "W*H*2" }
bound = "conversions between bytes and words around each minimum and maximum, which the compiler makes"
features = ["u8", "select", "2d-range"]
args = [
  { name = "in", value = "rand:u8:W*H:1" },
  { name = "out", value = "zeros:u8:W*H", check = "exact", why = "integers" },
]
*/
#define ORDER(a, b) { uint less = min(a, b); b = max(a, b); a = less; }
kernel void median(global const uchar *in, global uchar *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    int xl = max(x - 1, 0), xr = min(x + 1, w - 1);
    int up = max(y - 1, 0) * w, at = y * w, down = min(y + 1, h - 1) * w;
    uint a = in[up + xl], b = in[up + x], c = in[up + xr];
    uint d = in[at + xl], e = in[at + x], f = in[at + xr];
    uint g = in[down + xl], k = in[down + x], m = in[down + xr];
    /* Columns in order: the median lies among the largest least, the middle one and the least largest. */
    ORDER(a, d) ORDER(d, g) ORDER(a, d)
    ORDER(b, e) ORDER(e, k) ORDER(b, e)
    ORDER(c, f) ORDER(f, m) ORDER(c, f)
    uint low = max(a, max(b, c)), high = min(g, min(k, m));
    ORDER(d, e) ORDER(e, f) ORDER(d, e)
    ORDER(low, e) ORDER(e, high) ORDER(low, e)
    out[at + x] = e;
}
