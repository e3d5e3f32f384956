// Physics on grids and of particles.

// lattice Boltzmann D2Q9: 256x128 by 32x4; 294912 of 0.5..1, 294912, 32768 of 0..8, 1.2
__constant int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant float wi[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
__kernel void lbm_d2q9(__global const float *f, __global float *g, __global const int *solid, float omega)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int w = get_global_size(0), h = get_global_size(1), n = w * h, at = y * w + x;
    float p[9], rho = 0, ux = 0, uy = 0;
    for (int i = 0; i < 9; i++) {
        int from = ((y - ey[i] + h) % h) * w + (x - ex[i] + w) % w;
        p[i] = f[i * n + from];
        rho += p[i];
        ux += ex[i] * p[i];
        uy += ey[i] * p[i];
    }
    if (solid[at] == 0) {
        for (int i = 0; i < 9; i++)
            g[opposite[i] * n + at] = p[i];
        return;
    }
    ux /= rho;
    uy /= rho;
    float u2 = 1.5f * (ux * ux + uy * uy);
    for (int i = 0; i < 9; i++) {
        float eu = 3.0f * (ex[i] * ux + ey[i] * uy);
        float eq = rho * wi[i] * (1.0f + eu + 0.5f * eu * eu - u2);
        g[i * n + at] = p[i] + omega * (eq - p[i]);
    }
}

// FDTD of magnetic fields: 64x64x64 by 16x4x4; 262144, 262144, 262144, 262144, 262144, 262144, 0.5
#define AT(i, j, k) (((k) * ny + (j)) * nx + (i))
__kernel void update_h(__global const float *Ex, __global const float *Ey, __global const float *Ez,
                       __global float *Hx, __global float *Hy, __global float *Hz, const float c)
{
    int i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
    if (i < nx - 1 && j < ny - 1 && k < nz - 1) {
        int p = AT(i, j, k);
        Hx[p] += c * ((Ey[AT(i, j, k + 1)] - Ey[p]) - (Ez[AT(i, j + 1, k)] - Ez[p]));
        Hy[p] += c * ((Ez[AT(i + 1, j, k)] - Ez[p]) - (Ex[AT(i, j, k + 1)] - Ex[p]));
        Hz[p] += c * ((Ex[AT(i, j + 1, k)] - Ex[p]) - (Ey[AT(i + 1, j, k)] - Ey[p]));
    }
}

// bodies by tiles of local memory: 1024 by 128; 1024, 1024 of 0..1, 1024, 1024, 128, 0.01
__kernel void nbody(__global const float4 *pos, __global const float4 *vel, __global float4 *newpos,
                    __global float4 *newvel, __local float4 *tile, float dt)
{
    int gi = get_global_id(0), li = get_local_id(0), n = get_global_size(0), nt = get_local_size(0);
    float4 p = pos[gi], v = vel[gi], a = (float4)(0.0f);
    for (int b = 0; b < n / nt; b++) {
        tile[li] = pos[b * nt + li];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < nt; j++) {
            float4 d = tile[j] - p;
            d.w = 0.0f;
            float invr = rsqrt(dot(d, d) + 0.05f);
            a += fabs(tile[j].w) * invr * invr * invr * d;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    newpos[gi] = (float4)(p.xyz + dt * v.xyz + 0.5f * dt * dt * a.xyz, p.w);
    newvel[gi] = v + dt * a;
}

// density of particles by lists of cells: 8192 by 64; 8192 of 0..16, 4097 of rising 2..3, 8192
__kernel void sph_density(__global const float4 *pos, __global const int *start, __global float *rho)
{
    int i = get_global_id(0);
    float4 p = pos[i];
    int3 cell = convert_int3(p.xyz);
    float sum = 0.0f;
    for (int z = max(cell.z - 1, 0); z <= min(cell.z + 1, 15); z++)
        for (int y = max(cell.y - 1, 0); y <= min(cell.y + 1, 15); y++)
            for (int x = max(cell.x - 1, 0); x <= min(cell.x + 1, 15); x++) {
                int c = (z * 16 + y) * 16 + x;
                for (int j = start[c]; j < start[c + 1]; j++) {
                    float3 q = (pos[j].xyz - floor(pos[j].xyz)) + (float3)(x, y, z) - p.xyz;
                    float r2 = dot(q, q);
                    if (r2 < 1.0f) {
                        float d = 1.0f - r2;
                        sum += d * d * d;
                    }
                }
            }
    rho[i] = sum * 1.5667f;
}

// wave in a plane: 1000x500 by 250x1; 500000, 500000, 500000, 0.25
__kernel void wave(__global const float *now, __global const float *before, __global float *after, float c2)
{
    size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    size_t i = y * w + x;
    float u = now[i];
    float left = x ? now[i - 1] : 0.0f, right = x + 1 < w ? now[i + 1] : 0.0f;
    float up = y ? now[i - w] : 0.0f, down = y + 1 < h ? now[i + w] : 0.0f;
    after[i] = 2.0f * u - before[i] + c2 * (left + right + up + down - 4.0f * u);
}

// spins of one colour: 256x512 by 64x4; 262144, 131072, 262144, 1
__kernel void ising(__global const char *spin, __global const uint *random, __global char *out, int colour)
{
    int pair = get_global_id(0), y = get_global_id(1), w = 2 * get_global_size(0), h = get_global_size(1);
    int x = 2 * pair + ((y + colour) & 1);
    int i = y * w + x;
#define S(x, y) (spin[((y) & (h - 1)) * w + ((x) & (w - 1))] < 0 ? -1 : 1)
    int own = S(x, y), sum = S(x - 1, y) + S(x + 1, y) + S(x, y - 1) + S(x, y + 1);
    int de = 2 * own * sum;
    uint limit = de <= 0 ? 0xffffffffu : de == 4 ? 736312704u : 126229232u;
    out[i] = random[y * (w / 2) + pair] <= limit ? -own : own;
    out[i ^ 1] = spin[i ^ 1] < 0 ? -1 : 1;
}

// Jacobi in space, a column a work-item: 128x96 by 32x6; 393216, 393216, 32, 0.4
__kernel void jacobi_columns(__global const float *in, __global float *out, int nz, float c)
{
    int x = get_global_id(0), y = get_global_id(1), nx = get_global_size(0), ny = get_global_size(1);
    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1)
        return;
    int plane = nx * ny, i = y * nx + x + plane;
    float below = in[i - plane], here = in[i];
    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = in[i + plane];
        out[i] = c * here + (1 - c) / 6 * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        below = here;
        here = above;
    }
}

// Lennard-Jones by lists of neighbours: 8192 by 64; 8192 of 0..8, 262144 of 0..8192, 8192, 32, 4
__kernel void lj_force(__global const float4 *position, __global const int *neighbour, __global float4 *force,
                       const int most, const float cutsq)
{
    uint i = get_global_id(0);
    float4 p = position[i], f = (float4)(0);
    for (int j = 0; j < most; j++) {
        float4 d = p - position[neighbour[j * get_global_size(0) + i]];
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
        if (r2 < cutsq) {
            float inv = 1.0f / (r2 + 0.5f), r6 = inv * inv * inv;
            f.xyz += d.xyz * (inv * r6 * (48.0f * r6 - 24.0f));
        }
    }
    force[i] = f;
}

// cloth by springs: 128x128 by 16x16; 65536, 65536, 65536, 0.01
float4 spring(float4 a, float4 b, float rest)
{
    float4 d = b - a;
    d.w = 0;
    float l = length(d) + 0.01f;
    return d * ((l - rest) / l);
}
__kernel void cloth(__global const float4 *pos, __global const float4 *old, __global float4 *next, float dt)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    float4 p = pos[y * w + x], f = (float4)(0, -9.81f, 0, 0);
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            if ((i == 0 && j == 0) || x + i < 0 || x + i >= w || y + j < 0 || y + j >= h)
                continue;
            f += 50.0f * spring(p, pos[(y + j) * w + x + i], i && j ? 1.41421f : 1.0f);
        }
    next[y * w + x] = 2.0f * p - old[y * w + x] + f * dt * dt;
}
