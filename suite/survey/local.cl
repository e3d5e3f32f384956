// Shapes of local memory.

// halo of an odd tile: 210x189 by 7x9; 43072, 49, 39690, 216
#define TW 7
#define TH 9
#define R 3
__kernel void convolve_tile(__global const float *in, __constant float *filter, __global float *out, int pitch)
{
    __local float tile[TH + 2 * R][TW + 2 * R];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x0 = get_group_id(0) * TW, y0 = get_group_id(1) * TH;
    for (int y = ly; y < TH + 2 * R; y += TH)
        for (int x = lx; x < TW + 2 * R; x += TW)
            tile[y][x] = in[(y0 + y) * pitch + x0 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int y = 0; y <= 2 * R; y++)
        for (int x = 0; x <= 2 * R; x++)
            sum += tile[ly + y][lx + x] * filter[y * (2 * R + 1) + x];
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
}

// histogram with copies: 32768 by 128; 262144, 256
#define COPIES 8
__kernel void histogram_copies(__global const uchar8 *in, __global uint *hist)
{
    __local uint bins[COPIES * 257];
    uint l = get_local_id(0), copy = l % COPIES;
    for (uint i = l; i < COPIES * 257; i += 128)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < 262144; i += get_global_size(0)) {
        uchar8 v = in[i];
        atomic_inc(bins + copy * 257 + v.s0);
        atomic_inc(bins + copy * 257 + v.s3);
        atomic_inc(bins + copy * 257 + v.s7);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 256; i += 128) {
        uint sum = 0;
        for (uint c = 0; c < COPIES; c++)
            sum += bins[c * 257 + i];
        atomic_add(hist + i, sum);
    }
}

// tiles of 8x8 transposed as float8: 65536 by 64; 65536, 65536
__kernel void transpose_float8(__global const float8 *in, __global float8 *out)
{
    __local float tile[64 * 9];
    int l = get_local_id(0);
    vstore8(in[get_global_id(0)], 0, tile + l * 9);
    barrier(CLK_LOCAL_MEM_FENCE);
    int first = l & ~7, column = l & 7;
    float8 v;
    v.s0 = tile[first * 9 + column];
    v.s1 = tile[(first + 1) * 9 + column];
    v.s2 = tile[(first + 2) * 9 + column];
    v.s3 = tile[(first + 3) * 9 + column];
    v.s4 = tile[(first + 4) * 9 + column];
    v.s5 = tile[(first + 5) * 9 + column];
    v.s6 = tile[(first + 6) * 9 + column];
    v.s7 = tile[(first + 7) * 9 + column];
    out[get_global_id(0)] = v;
}

// copies of work-groups: 131072 by 128; 131072, 131072
__kernel void async_reverse(__global const float2 *in, __global float2 *out)
{
    __local float2 from[128], to[128];
    size_t l = get_local_id(0), base = get_group_id(0) * 128;
    event_t e = async_work_group_copy(from, in + base, 128, 0);
    wait_group_events(1, &e);
    to[127 - l] = from[l] * 0.5f;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + base, to, 128, 0);
    wait_group_events(1, &e);
}

// shorts transposed with padding: 512x512 by 32x8; 1048576, 1048576, 1056
__kernel void transpose_short(__global const ushort2 *in, __global ushort *out, __local ushort *tile)
{
    int lx = get_local_id(0), ly = get_local_id(1), w = 1024;
    int x0 = get_group_id(0) * 64, y0 = get_group_id(1) * 8;
    ushort2 v = in[((y0 + ly) * w + x0) / 2 + lx];
    tile[2 * lx * 9 + ly] = v.x;
    tile[(2 * lx + 1) * 9 + ly] = v.y;
    barrier(CLK_LOCAL_MEM_FENCE);
    int t = ly * 32 + lx;
    for (int i = t; i < 512; i += 256)
        out[(x0 + i / 8) * w + y0 + i % 8] = tile[i / 8 * 9 + i % 8];
}

// floats added by exchanges: 8192 by 64; 8192 of 0..9, 128
__kernel void add_by_exchange(__global const int *in, __global float *out)
{
    __local volatile uint sum;
    if (get_local_id(0) == 0)
        sum = as_uint(0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    float own = 0.25f * in[get_global_id(0)];
    uint old = sum, seen;
    do {
        seen = old;
        old = atomic_cmpxchg(&sum, seen, as_uint(as_float(seen) + own));
    } while (old != seen);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = as_float(sum);
}

// FFT of 64 in local memory: 16384 by 32; 32768, 32768
__kernel void fft64(__global const float2 *in, __global float2 *out)
{
    __local float2 s[2][64];
    int l = get_local_id(0), base = get_group_id(0) * 64;
    s[0][l] = in[base + l];
    s[0][l + 32] = in[base + l + 32];
    int now = 0;
    for (int n = 1; n < 64; n <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = l & (n - 1), at = ((l - k) << 1) + k;
        float2 a = s[now][l], b = s[now][l + 32];
        float angle = -M_PI_F * k / n;
        float c = native_cos(angle), d = native_sin(angle);
        b = (float2)(b.x * c - b.y * d, b.x * d + b.y * c);
        s[1 - now][at] = a + b;
        s[1 - now][at + n] = a - b;
        now = 1 - now;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + l] = s[now][l];
    out[base + l + 32] = s[now][l + 32];
}
