/* envisa
about = "Temperatures of a chip: two steps of a five-point stencil with a source, in tiles with a halo in local memory"
sizes = { G = 4 }
bench = { G = 128 }
slow = { G = 12 }
global = ["G*16", "G*16"]
local = [16, 16]
cost = { bytes = "G*G*1728", flops = "G*G*256*26" }
bound = "the two ports for vectors of 64 bytes, at which sums wait behind clamped places that are looked at; and five barriers, where threads take turns and leave what they have in memory"
features = ["f32", "slm", "barrier", "loop", "divergence", "2d-range"]
args = [
  { name = "warm", value = "rand:f32:G*G*144:1:300..340" },
  { name = "power", value = "rand:f32:G*G*144:2:0..1" },
  { name = "out", value = "zeros:f32:G*G*144", check = "exact", why = "single operations in a fixed order, not contracted" },
  { name = "size", value = "i32:G*12" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
#define T 16
#define HALO 2
kernel __attribute__((reqd_work_group_size(T, T, 1)))
void hotspot(global const float *warm, global const float *power, global float *out, int size)
{
    local float t[T][T];
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = (int)get_group_id(0) * (T - 2 * HALO) - HALO, top = (int)get_group_id(1) * (T - 2 * HALO) - HALO;
    int x = left + lx, y = top + ly;
    int from = clamp(y, 0, size - 1) * size + clamp(x, 0, size - 1);
    float source = power[from];
    t[ly][lx] = warm[from];
    /* At the chip's edge a cell is its own neighbour; at the tile's edge what comes out is not used. */
    int w = max(lx - 1, max(0, -left)), e = min(lx + 1, min(T - 1, size - 1 - left));
    int n = max(ly - 1, max(0, -top)), s = min(ly + 1, min(T - 1, size - 1 - top));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < HALO; k++) {
        float c = t[ly][lx];
        float flow = (t[s][lx] + t[n][lx] - 2.0f * c) * 0.1f + (t[ly][e] + t[ly][w] - 2.0f * c) * 0.1f;
        float next = c + 0.5f * (source + flow + (80.0f - c) * 0.0125f);
        barrier(CLK_LOCAL_MEM_FENCE);
        t[ly][lx] = next;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lx >= HALO && lx < T - HALO && ly >= HALO && ly < T - HALO)
        out[y * size + x] = t[ly][lx];
}
