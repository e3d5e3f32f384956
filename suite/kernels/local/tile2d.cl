/* envisa
about = "2D tile with halo loaded in several steps"
sizes = { W = 32, H = 16 }
global = ["W", "H"]
local = [8, 8]
features = ["slm", "barrier", "2d-range", "divergence"]
args = [
  { name = "in", value = "rand:i32:W*H:1" },
  { name = "out", value = "zeros:i32:W*H", check = "exact", why = "integers" },
]
*/
kernel void tile2d(global const int *in, global int *out)
{
    local int t[10][10];
    int lx = get_local_id(0), ly = get_local_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    int gx = get_group_id(0) * 8 - 1, gy = get_group_id(1) * 8 - 1;
    for (int k = ly * 8 + lx; k < 100; k += 64) {
        int x = gx + k % 10, y = gy + k / 10;
        t[k / 10][k % 10] = (x >= 0 && x < w && y >= 0 && y < h) ? in[y * w + x] : -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            s += t[ly + dy][lx + dx] * (dx + dy * 3);
    out[get_global_id(1) * w + get_global_id(0)] = s;
}
