/* envisa
about = "A strip of 16 rows right of a factored block: forward substitution, a column per work-item"
sizes = { N = 256 }
bench = { N = 1048576 }
slow = { N = 4096 }
global = ["N"]
local = [64]
cost = { bytes = "N*128", flops = "N*240" }
features = ["f32", "fma", "slm", "barrier", "private-array"]
args = [
  { name = "lower", value = "rand:f32:256:1:-0.25..0.25" },
  { name = "strip", value = "rand:f32:N*16:2", check = "exact", why = "every step is an explicit fma in one order" },
  { name = "n", value = "u32:N" },
]
*/
#define T 16
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void lu_perimeter(global const float *lower, global float *strip, uint n)
{
    local float a[T * T];
    uint l = get_local_id(0), col = get_global_id(0);
    for (uint k = l; k < T * T; k += 64)
        a[k] = lower[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    float x[T];
    for (uint i = 0; i < T; i++) {
        float s = strip[i * n + col];
        for (uint j = 0; j < i; j++)
            s = fma(-a[i * T + j], x[j], s);
        x[i] = s;
        strip[i * n + col] = s;
    }
}
