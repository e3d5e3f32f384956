/* envisa
about = "One all-pairs gravitation step"
sizes = { N = 128 }
bench = { N = 4096 }
slow = { N = 1024 }
global = ["N"]
local = [64]
cost = { bytes = "N*32", flops = "N*N*19" }
bound = "the units for vectors: 47 operations for 32 bodies, of which the inverse square root, by steps that give the same bits on all CPUs, has 23"
features = ["f32", "f32x4", "fma", "rsqrt", "loop"]
args = [
  { name = "pos", value = "rand:f32x4:N:5:0..1" },
  { name = "acc", value = "zeros:f32x4:N", check = "rel 2e-6 abs 1e-4", bench_check = "rel 2e-6 abs 3e-3", why = "rsqrt may differ by 2 ulp (OpenCL), its cube by 6, or 3.6e-7 of a term; terms, of 2 in the mean, partly cancel: N * 2 * 3.6e-7" },
  { name = "n", value = "u32:N" },
]
*/
#pragma OPENCL FP_CONTRACT OFF
kernel void nbody(global const float4 *pos, global float4 *acc, uint n)
{
    uint i = get_global_id(0);
    float4 p = pos[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint j = 0; j < n; j++) {
        float4 q = pos[j];
        float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
        float r2 = fma(dx, dx, fma(dy, dy, fma(dz, dz, 0.01f)));
        float inv = rsqrt(r2);
        float f = q.w * inv * inv * inv;
        ax = fma(f, dx, ax);
        ay = fma(f, dy, ay);
        az = fma(f, dz, az);
    }
    acc[i] = (float4)(ax, ay, az, 0.0f);
}
