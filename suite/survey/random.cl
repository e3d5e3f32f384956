// Random numbers what is computed of them, and prices.

// Philox: 65536; 65536, 3405691582, 10
__kernel void philox(__global uint4 *out, uint seed, int rounds)
{
    uint i = get_global_id(0);
    uint4 c = (uint4)(i, 0, 0, 0);
    uint2 k = (uint2)(seed, 0x1234567u);
    for (int r = 0; r < rounds; r++) {
        uint h0 = mul_hi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        uint h1 = mul_hi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = (uint4)(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    out[i] = c;
}

// Mersenne twister in local memory: 8192 by 128; 64, 39936
#define N 624
#define M 397
__kernel void mersenne(__global const uint *seeds, __global uint *out)
{
    __local uint mt[N];
    int l = get_local_id(0), g = get_group_id(0);
    for (int i = l; i < N; i += 128)
        mt[i] = (seeds[g] ^ i) * 1812433253u + i * 69069u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int base = 0; base < N; base += 128) {
        int i = base + l;
        uint next = 0;
        if (i < N) {
            uint y = (mt[i] & 0x80000000u) | (mt[(i + 1) % N] & 0x7fffffffu);
            next = mt[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < N)
            mt[i] = next;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = l; i < N; i += 128) {
        uint y = mt[i];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680u;
        y ^= (y << 15) & 0xefc60000u;
        out[g * N + i] = y ^ (y >> 18);
    }
}

// Sobol points: 16384x8 by 64x1; 256, 131072
__kernel void sobol(__global const uint *directions, __global float *out)
{
    uint i = get_global_id(0), dim = get_global_id(1), x = 0;
    __global const uint *v = directions + 32 * dim;
    for (uint g = i ^ (i >> 1), b = 0; g; g >>= 1, b++)
        if (g & 1)
            x ^= v[b];
    out[dim * get_global_size(0) + i] = x * (1.0f / 4294967296.0f);
}

// binomial tree in local memory: 32768 by 128; 256 of 5..30, 256 of 5..30, 256, 0.02, 0.3
#define STEPS 127
__kernel void binomial(__global const float *price, __global const float *strike, __global float *out, float rate, float vol)
{
    __local float call[2][STEPS + 1];
    int l = get_local_id(0), g = get_group_id(0);
    float dt = 1.0f / STEPS, v = vol * sqrt(dt), r = exp(rate * dt), u = exp(v), d = 1.0f / u;
    float pu = (r - d) / (u - d) / r, pd = 1.0f / r - pu;
    call[1][l] = fmax(price[g] * exp(v * (2.0f * l - STEPS)) - strike[g], 0.0f);
    int now = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = STEPS; i > 0; i--) {
        if (l < i)
            call[1 - now][l] = pu * call[now][l + 1] + pd * call[now][l];
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[g] = call[now][0];
}

// Heston paths: 16384 by 64; 16384, 32, 0.03125
uint xorwow(uint *s, uint *d)
{
    uint t = s[4];
    t ^= t >> 2;
    t ^= t << 1;
    for (int i = 4; i > 0; i--)
        s[i] = s[i - 1];
    t ^= s[1] ^ (s[1] << 4);
    s[0] = t;
    *d += 362437;
    return t + *d;
}
__kernel void heston(__global float2 *out, int steps, float dt)
{
    uint state[5], d = 6615241;
    for (int i = 0; i < 5; i++)
        state[i] = (get_global_id(0) + 1) * 2654435761u + i * 40503u;
    float x = 0.0f, v = 0.04f, root = sqrt(dt);
    for (int i = 0; i < steps; i++) {
        float u1 = ((xorwow(state, &d) >> 8) + 1) * (1.0f / 16777217.0f);
        float u2 = (xorwow(state, &d) >> 8) * (1.0f / 16777216.0f);
        float r = sqrt(-2.0f * log(u1));
        float z1 = r * cospi(2.0f * u2), z2 = r * sinpi(2.0f * u2);
        float vp = fmax(v, 0.0f), sv = sqrt(vp) * root;
        x += (0.02f - 0.5f * vp) * dt + sv * z1;
        v += 1.5f * (0.04f - vp) * dt + 0.3f * sv * (-0.7f * z1 + 0.71414f * z2);
    }
    out[get_global_id(0)] = (float2)(x, v);
}

// pi by throwing: 16384 by 256; 64, 32
__kernel void throw_darts(__global uint *hits, int throws)
{
    __local uint total;
    if (get_local_id(0) == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong s = get_global_id(0) * 6364136223846793005ul + 1442695040888963407ul;
    uint in = 0;
    for (int i = 0; i < throws; i++) {
        s = s * 6364136223846793005ul + 1442695040888963407ul;
        int x = (int)(s >> 33) & 0x7fff;
        s = s * 6364136223846793005ul + 1442695040888963407ul;
        int y = (int)(s >> 33) & 0x7fff;
        in += x * x + y * y < 0x3fff0001;
    }
    atomic_add(&total, in);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        hits[get_group_id(0)] = total;
}

// options of double: 32768 by 64; 32768 of 5..30, 32768 of 1..100, 32768, 32768, 0.02, 0.3
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
double cnd(double d)
{
    const double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double p = exp(-0.5 * d * d) * 0.39894228040143267794 * k *
        (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    return d > 0 ? 1.0 - p : p;
}
__kernel void black_scholes(__global const double *S, __global const double *X, __global double *call,
                            __global double *put, double r, double v)
{
    int i = get_global_id(0);
    double t = 0.25 + (i & 31) * 0.3, root = sqrt(t);
    double d1 = (log(S[i] / X[i]) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
    double later = exp(-r * t), n1 = cnd(d1), n2 = cnd(d2);
    call[i] = S[i] * n1 - X[i] * later * n2 + 1.0;
    put[i] = X[i] * later * (1.0 - n2) - S[i] * (1.0 - n1) + 1.0;
}
