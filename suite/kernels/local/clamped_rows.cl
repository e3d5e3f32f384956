/* envisa
about = "Places in a tile that are clamped at its ends or at what the row, the group or an argument says: rows that are alike but for where they are, and rows that are not"
sizes = { G = 3 }
global = ["G*16", "G*8"]
local = [16, 8]
features = ["i32", "slm", "barrier", "2d-range", "loop"]
args = [
  { name = "in", value = "rand:i32:G*G*128:1" },
  { name = "shift", value = "rand:i32:16:2:-20..20" },
  { name = "out", value = "zeros:i32:G*G*128", check = "exact", why = "integers" },
  { name = "end", value = "i32:11" },
  { name = "width", value = "i32:G*16" },
]
*/
#define W 16
#define H 8
kernel __attribute__((reqd_work_group_size(W, H, 1)))
void clamped_rows(global const int *in, global const int *shift, global int *out, int end, int width)
{
    local int t[H][W];
    int x = get_local_id(0), y = get_local_id(1), gx = get_group_id(0), gy = get_group_id(1);
    int at = (gy * H + y) * width + gx * W + x, height = get_global_size(1), left = gx * W;
    /* From memory, clamped to the whole, to the group's part, and to the row. */
    int row = (gy * H + y) * width;
    int sum = in[row + clamp(left + x - 2, 0, width - 1)];
    sum += 3 * in[row + min(left + x + 5, max(width - 7, left))];
    sum += 5 * in[clamp(gy * H + y + 1, 0, height - 1) * width + max(left + x - 3, left + y)];
    t[y][x] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 1; k < 4; k++) {
        int s = shift[k + gx];
        /* Both rows of a thread go to the same columns. */
        int west = max(x - k, 0), east = min(x + k, W - 1), cut = min(x + k, end), far = clamp(x + s, 0, W - 1);
        int a = t[y][west] + 7 * t[y][east] - 11 * t[y][cut] + 13 * t[y][far];
        a += 17 * t[H - 1 - y][east] + 19 * t[min(y + k, H - 1)][west] + 23 * t[max(y - s, 0) & (H - 1)][cut];
        /* Here they do not. */
        a += 29 * t[y][min(x + y, W - 1)] + 31 * t[y][max(x - y, k)] + 37 * t[y][clamp(x - s * y, 0, end)];
        /* Nor is this one row. */
        a += 41 * t[y][min(2 * x, W - 1)] + 43 * t[y][max(W - 1 - x, k)] + 47 * t[y][min(x ^ k, W - 2)];
        barrier(CLK_LOCAL_MEM_FENCE);
        t[y][min(x, W - 1)] = a ^ sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[at] = t[y][x];
}
