/* envisa
about = "DPAS on brain floats with float accumulation: one 8 x 8 (pvc: 8 x 16) tile, K = 16"
devices = ["dg2", "pvc"]
why_devices = "DPAS exists on XeHPG and XeHPC only"
sizes = { }
global = [16]
local = [16]
features = ["dpas", "bf16", "f32", "sub-group"]
args = [
  { name = "a", value = "rand:u32:8*8:1:0..4" },
  { name = "b", value = "rand:u32:8*16:2:0..4" },
  { name = "c", value = "zeros:f32:8*16", check = "exact", why = "products of small whole brain floats, sums exact in float" },
]
*/
/* Entries 0..3 are turned into pairs of brain floats (n, 1) so that every product is whole. */
#define PAIR(n) (((n) == 0 ? 0u : (n) == 1 ? 0x3f80u : (n) == 2 ? 0x4000u : 0x4040u) | 0x3f800000u)
#ifdef PEER
kernel void dpas_bf16(global const uint *a, global const uint *b, global float *c)
{
    uint col = get_global_id(0);
    for (uint r = 0; r < 8; r++) {
        float s = (float)r;
        for (uint k = 0; k < 8; k++)
            s += (float)a[r * 8 + k] * (float)b[k * 16 + col] + 1.0f;
        c[r * 16 + col] = s;
    }
}
#elif defined(DEVICE_pvc)
float8 __attribute__((overloadable)) intel_sub_group_bf16_bf16_matrix_mad_k16(short8 a, int8 b, float8 acc);
kernel __attribute__((intel_reqd_sub_group_size(16)))
void dpas_bf16(global const uint *a, global const uint *b, global float *c)
{
    uint l = get_sub_group_local_id();
    short8 va;
    int8 vb;
    float8 acc = (float8)(0, 1, 2, 3, 4, 5, 6, 7);
    short *pa = (short *)&va;
    int *pb = (int *)&vb;
    for (uint r = 0; r < 8; r++) {
        pa[r] = (short)(PAIR(a[r * 8 + l / 2]) >> (16 * (l & 1)));
        pb[r] = PAIR(b[r * 16 + l]);
    }
    acc = intel_sub_group_bf16_bf16_matrix_mad_k16(va, vb, acc);
    float *p = (float *)&acc;
    for (uint r = 0; r < 8; r++)
        c[r * 16 + l] = p[r];
}
#else
float8 __attribute__((overloadable)) intel_sub_group_bf16_bf16_matrix_mad_k16(int8 a, int8 b, float8 acc);
kernel __attribute__((intel_reqd_sub_group_size(8)))
void dpas_bf16(global const uint *a, global const uint *b, global float *c)
{
    uint l = get_sub_group_local_id(), col = get_sub_group_id() * 8 + l;
    int8 va, vb;
    float8 acc = (float8)(0, 1, 2, 3, 4, 5, 6, 7);
    int *pa = (int *)&va;
    int *pb = (int *)&vb;
    for (uint r = 0; r < 8; r++) {
        pa[r] = PAIR(a[r * 8 + l]);
        pb[r] = PAIR(b[r * 16 + col]);
    }
    acc = intel_sub_group_bf16_bf16_matrix_mad_k16(va, vb, acc);
    float *p = (float *)&acc;
    for (uint r = 0; r < 8; r++)
        c[r * 16 + col] = p[r];
}
#endif
