/* envisa
about = "A step of Jacobi's method on a plane in double precision, with its largest change per row of a group"
devices = ["skl", "pvc"]
why_devices = "tgllp and dg2 have no double-precision unit; the compiler rejects double there"
sizes = { W = 64, H = 16 }
bench = { W = 2048, H = 1024 }
slow = { W = 256, H = 256 }
global = ["W", "H"]
local = [32, 4]
cost = { bytes = "W*H*24", flops = "W*H*7" }
bound = "rounds of a reduction that are a few instructions each, with a barrier each; and what comes from memory"
features = ["f64", "slm", "barrier", "divergence", "2d-range"]
args = [
  { name = "u", value = "rand:f64:W*H:1" },
  { name = "source", value = "rand:f64:W*H:2" },
  { name = "next", value = "zeros:f64:W*H", check = "exact", why = "single operations in a fixed order, not contracted" },
  { name = "change", value = "zeros:f64:W/32*H", check = "exact", why = "maxima" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void jacobi_double(global const double *u, global const double *source, global double *next, global double *change)
{
    local double t[4][32];
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    int lx = get_local_id(0), ly = get_local_id(1), at = y * w + x;
    double c = u[at], v = c;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
        v = 0.25 * (u[at - 1] + u[at + 1] + u[at - w] + u[at + w] - source[at]);
    next[at] = v;
    t[ly][lx] = fabs(v - c);
    for (int s = 16; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lx < s)
            t[ly][lx] = fmax(t[ly][lx], t[ly][lx + s]);
    }
    if (lx == 0)
        change[y * (w / 32) + get_group_id(0)] = t[ly][0];
}
