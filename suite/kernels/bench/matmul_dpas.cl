/* envisa
about = "int8 matrix multiply with DPAS: each sub-group makes an 8 x 8 (pvc: 8 x 16) tile of C with K = 32 per step"
devices = ["dg2", "pvc"]
why_devices = "DPAS exists on XeHPG and XeHPC only"
sizes = { M = 16, N = 32, K = 64 }
bench = { M = 512, N = 512, K = 512 }
slow = { M = 128, N = 64, K = 512 }
global = ["N", "M/8"]
local = [16, 1]
cost = { bytes = "M*K+K*N+M*N*4", flops = "2*M*N*K", note = "operations on signed bytes, against the peak of float multiply-adds" }
features = ["dpas", "i8", "sub-group"]
args = [
  { name = "a", value = "rand:u32:M*K/4:1" },
  { name = "b", value = "rand:u32:K*N/4:2" },
  { name = "c", value = "zeros:i32:M*N", check = "exact", why = "integer sums" },
  { name = "n", value = "u32:N" },
  { name = "k4", value = "u32:K/4" },
]
*/
/* a: M rows of K/4 dwords of four signed bytes; b: K/4 rows of N dwords, each dword four consecutive k of one column. */
#ifdef PEER
static int dot4(uint x, uint y, int s)
{
    char4 a = as_char4(x), b = as_char4(y);
    return s + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
kernel void matmul_dpas(global const uint *a, global const uint *b, global int *c, uint n, uint k4)
{
    uint col = get_global_id(0), row = get_global_id(1) * 8;
    for (uint r = 0; r < 8; r++) {
        int s = 0;
        for (uint k = 0; k < k4; k++)
            s = dot4(a[(row + r) * k4 + k], b[k * n + col], s);
        c[(row + r) * n + col] = s;
    }
}
#elif defined(DEVICE_pvc)
/* 16 lanes: lane l holds dword pair (16 x 16 bits) of A: 8 rows x 16 ushort-pairs. */
int8 __attribute__((overloadable)) intel_sub_group_i8_i8_matrix_mad_k32(short8 a, int8 b, int8 acc);
kernel __attribute__((intel_reqd_sub_group_size(16)))
void matmul_dpas(global const uint *a, global const uint *b, global int *c, uint n, uint k4)
{
    uint col = get_group_id(0) * 16, row = get_group_id(1) * 8, l = get_sub_group_local_id();
    global const short *as = (global const short *)a;
    int8 acc = 0;
    for (uint k = 0; k < k4; k += 8) {
        short8 va;
        int8 vb;
        short *pa = (short *)&va;
        int *pb = (int *)&vb;
        for (uint r = 0; r < 8; r++) {
            pa[r] = as[((row + r) * k4 + k) * 2 + l];
            pb[r] = b[(k + r) * n + col + l];
        }
        acc = intel_sub_group_i8_i8_matrix_mad_k32(va, vb, acc);
    }
    int *p = (int *)&acc;
    for (uint r = 0; r < 8; r++)
        c[(row + r) * n + col + l] = p[r];
}
#else
int8 __attribute__((overloadable)) intel_sub_group_i8_i8_matrix_mad_k32(int8 a, int8 b, int8 acc);
kernel __attribute__((intel_reqd_sub_group_size(8)))
void matmul_dpas(global const uint *a, global const uint *b, global int *c, uint n, uint k4)
{
    uint col = get_group_id(0) * 16 + get_sub_group_id() * 8, row = get_group_id(1) * 8;
    uint l = get_sub_group_local_id();
    int8 acc = 0;
    for (uint k = 0; k < k4; k += 8) {
        int8 va, vb;
        int *pa = (int *)&va;
        int *pb = (int *)&vb;
        for (uint r = 0; r < 8; r++) {
            pa[r] = a[(row + r) * k4 + k + l];
            pb[r] = b[(k + r) * n + col + l];
        }
        acc = intel_sub_group_i8_i8_matrix_mad_k32(va, vb, acc);
    }
    int *p = (int *)&acc;
    for (uint r = 0; r < 8; r++)
        c[(row + r) * n + col + l] = p[r];
}
#endif
