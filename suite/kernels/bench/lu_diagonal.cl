/* envisa
about = "LU factors of 16 x 16 blocks, each by 16 work-items in local memory, without pivots"
sizes = { B = 12 }
bench = { B = 16384 }
slow = { B = 256 }
global = ["B*16"]
local = [16]
cost = { bytes = "B*2048", flops = "B*2720" }
bound = "gathers with steps of 17 elements in local memory; and much code, which the compiler unrolls"
features = ["f32", "fma", "divide", "slm", "barrier", "loop", "divergence"]
args = [
  { name = "m", value = "rand:f32:B*256:1", check = "rel 2e-6 abs 2e-6", why = "quotients may differ by 2.5 ulp (OpenCL); what is divided by is 14 to 18, so that errors of one column shrink in the next" },
]
*/
#define T 16
kernel __attribute__((reqd_work_group_size(T, 1, 1)))
void lu_diagonal(global float *m)
{
    local float a[T][T + 1];
    uint l = get_local_id(0), base = get_group_id(0) * T * T;
    /* 16 more on the diagonal: no pivot is small. */
    for (uint r = 0; r < T; r++)
        a[r][l] = m[base + r * T + l] + (r == l ? 16.0f : 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i + 1 < T; i++) {
        if (l > i) {
            float s = a[l][i];
            for (uint j = 0; j < i; j++)
                s = fma(-a[l][j], a[j][i], s);
            a[l][i] = s / a[i][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l > i) {
            float s = a[i + 1][l];
            for (uint j = 0; j <= i; j++)
                s = fma(-a[i + 1][j], a[j][l], s);
            a[i + 1][l] = s;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint r = 0; r < T; r++)
        m[base + r * T + l] = a[r][l];
}
