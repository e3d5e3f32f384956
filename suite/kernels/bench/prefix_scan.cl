/* envisa
about = "Exclusive prefix sum of each block of 256 values, work-efficient (up-sweep, down-sweep)"
sizes = { N = 1024 }
bench = { N = 4194304 }
slow = { N = 131072 }
global = ["N/2"]
local = [128]
cost = { bytes = "N*8" }
features = ["i32", "slm", "barrier", "divergence"]
args = [
  { name = "in", value = "rand:u32:N:7" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integer sums" },
]
*/
#define BLOCK 256
kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void prefix_scan(global const uint *in, global uint *out)
{
    local uint t[BLOCK];
    uint l = get_local_id(0);
    uint base = get_group_id(0) * BLOCK;
    t[2 * l] = in[base + 2 * l];
    t[2 * l + 1] = in[base + 2 * l + 1];
    uint step = 1;
    for (uint d = BLOCK / 2; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            uint a = step * (2 * l + 1) - 1, b = step * (2 * l + 2) - 1;
            t[b] += t[a];
        }
        step *= 2;
    }
    if (l == 0)
        t[BLOCK - 1] = 0;
    for (uint d = 1; d < BLOCK; d *= 2) {
        step >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            uint a = step * (2 * l + 1) - 1, b = step * (2 * l + 2) - 1;
            uint v = t[a];
            t[a] = t[b];
            t[b] += v;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * l] = t[2 * l];
    out[base + 2 * l + 1] = t[2 * l + 1];
}
