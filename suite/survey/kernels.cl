// Everyday kernels by what they ask of a compiler, none of them tuned for. Each begins with a line that names it:
// its work-items, those of a group (without: the driver's choice), and elements of the buffers a, b and c.

// copy of bytes: 1048576; 1048576, 1, 1048576
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int i = get_global_id(0);
    c[i] = a[i];
}

// sum of bytes: 1048576; 1048576, 1048576, 1048576
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int i = get_global_id(0);
    c[i] = a[i] + b[i];
}

// mean of uchar4: 262144; 262144, 262144, 262144
kernel void k(global const uchar4 *a, global const uchar4 *b, global uchar4 *c)
{
    int i = get_global_id(0);
    c[i] = rhadd(a[i], b[i]);
}

// saturated shorts: 524288; 524288, 524288, 524288
kernel void k(global const short *a, global const short *b, global short *c)
{
    int i = get_global_id(0);
    c[i] = add_sat(a[i], b[i]);
}

// grey of RGBA: 524288; 524288, 1, 524288
kernel void k(global const uchar4 *a, global const uchar *b, global uchar *c)
{
    int i = get_global_id(0);
    float4 f = convert_float4(a[i]);
    c[i] = convert_uchar_sat(0.3f * f.x + 0.59f * f.y + 0.11f * f.z);
}

// grey of RGB: 524288; 1572864, 1, 524288
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int i = get_global_id(0);
    c[i] = (a[3 * i] * 77 + a[3 * i + 1] * 150 + a[3 * i + 2] * 29) >> 8;
}

// brighter RGB: 524288; 1572864, 1, 1572864
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int i = get_global_id(0);
    for (int k = 0; k < 3; k++)
        c[3 * i + k] = min(a[3 * i + k] + 40, 255);
}

// RGB turned round: 524288; 1572864, 1, 1572864
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int i = get_global_id(0);
    uchar3 v = vload3(i, a);
    vstore3((uchar3)(v.z, v.y, v.x), i, c);
}

// words of bytes: 262144; 1048576, 1, 262144
kernel void k(global const uchar *a, global const uchar *b, global uint *c)
{
    int i = get_global_id(0);
    c[i] = a[4 * i] | a[4 * i + 1] << 8 | a[4 * i + 2] << 16 | (uint)a[4 * i + 3] << 24;
}

// halves loaded and stored: 524288; 524288, 524288, 524288
kernel void k(global const half *a, global const half *b, global half *c)
{
    int i = get_global_id(0);
    vstore_half(vload_half(i, a) * 2.0f + vload_half(i, b), i, c);
}

// product of double2: 131072; 131072, 131072, 131072
kernel void k(global const double2 *a, global const double2 *b, global double2 *c)
{
    int i = get_global_id(0);
    c[i] = a[i] * b[i] + a[i];
}

// product of longs: 262144; 262144, 262144, 262144
kernel void k(global const long *a, global const long *b, global long *c)
{
    int i = get_global_id(0);
    c[i] = a[i] * b[i] + (a[i] >> 3);
}

// product of float16: 32768; 32768, 32768, 32768
kernel void k(global const float16 *a, global const float16 *b, global float16 *c)
{
    int i = get_global_id(0);
    c[i] = a[i] * b[i] + 1.0f;
}

// cross product of float3: 131072; 131072, 131072, 131072
kernel void k(global const float3 *a, global const float3 *b, global float3 *c)
{
    int i = get_global_id(0);
    c[i] = cross(a[i], b[i]);
}

// normalised packed float3: 131072; 393216, 1, 393216
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    vstore3(normalize(vload3(i, a) + 1.0f), i, c);
}

// structures: 65536; 327680, 1, 327680
struct particle {
    float x, y, z, mass, charge;
};
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    struct particle p = ((global const struct particle *)a)[i];
    p.x += p.y * 2;
    p.z -= p.mass;
    p.charge += 1;
    ((global struct particle *)c)[i] = p;
}

// transpose: 1024x1024 by 16x16; 1048576, 1, 1048576
kernel void k(global const float *a, global const float *b, global float *c)
{
    local float tile[16][17];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = a[get_global_id(1) * 1024 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[(get_group_id(0) * 16 + y) * 1024 + get_group_id(1) * 16 + x] = tile[x][y];
}

// transpose without local memory: 1024x1024 by 16x16; 1048576, 1, 1048576
kernel void k(global const float *a, global const float *b, global float *c)
{
    int x = get_global_id(0), y = get_global_id(1);
    c[x * 1024 + y] = a[y * 1024 + x];
}

// histogram: 65536 by 256; 1048576, 1, 256
kernel void k(global const uchar *a, global const uchar *b, global int *c)
{
    local int bins[256];
    int l = get_local_id(0);
    bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++)
        atomic_inc(&bins[a[get_group_id(0) * 4096 + i * 256 + l]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&c[l], bins[l]);
}

// tree of sums: 1048576 by 256; 1048576, 1, 4096
kernel void k(global const float *a, global const float *b, global float *c)
{
    local float part[256];
    int l = get_local_id(0);
    part[l] = a[get_global_id(0)];
    for (int n = 128; n > 0; n >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n)
            part[l] += part[l + n];
    }
    if (l == 0)
        c[get_group_id(0)] = part[0];
}

// scan: 524288 by 256; 524288, 1, 524288
kernel void k(global const int *a, global const int *b, global int *c)
{
    local int sums[2][256];
    int l = get_local_id(0), which = 0;
    sums[0][l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 1; n < 256; n <<= 1) {
        sums[1 - which][l] = sums[which][l] + (l >= n ? sums[which][l - n] : 0);
        which = 1 - which;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[get_global_id(0)] = sums[which][l];
}

// bitonic sort: 131072 by 256; 131072, 1, 131072
kernel void k(global const int *a, global const int *b, global int *c)
{
    local int data[256];
    int l = get_local_id(0);
    data[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 2; n <= 256; n *= 2)
        for (int j = n / 2; j > 0; j /= 2) {
            int x = data[l], y = data[l ^ j];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (((l & n) == 0) == (l < (l ^ j)) ? x > y : x < y)
                data[l] = y;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    c[get_global_id(0)] = data[l];
}

// dot products by groups: 8192 by 64; 524288, 4096, 128
kernel void k(global const float *a, global const float *b, global float *c)
{
    local float part[64];
    int l = get_local_id(0);
    float sum = 0;
    for (int i = l; i < 4096; i += 64)
        sum += a[get_group_id(0) * 4096 + i] * b[i];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        float all = 0;
        for (int i = 0; i < 64; i++)
            all += part[i];
        c[get_group_id(0)] = all;
    }
}

// bodies: 2048 by 64; 2048, 1, 2048
kernel void k(global const float4 *a, global const float4 *b, global float4 *c)
{
    int i = get_global_id(0);
    float4 own = a[i];
    float3 force = 0;
    for (int j = 0; j < 1024; j++) {
        float3 d = a[j].xyz - own.xyz;
        float r = rsqrt(dot(d, d) + 0.01f);
        force += d * (a[j].w * r * r * r);
    }
    c[i] = (float4)(force, 0);
}

// Mandelbrot set: 768x512 by 16x16; 1, 1, 393216
#pragma OPENCL FP_CONTRACT OFF
kernel void k(global const float *a, global const float *b, global int *c)
{
    int x = get_global_id(0), y = get_global_id(1), n = 0;
    float cx = x / 256.0f - 2, cy = y / 256.0f - 1, zx = 0, zy = 0;
    while (n < 100 && zx * zx + zy * zy < 4) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    c[y * 768 + x] = n;
}

// spheres: 512x512 by 8x8; 1, 1, 262144
kernel void k(global const float *a, global const float *b, global float *c)
{
    int x = get_global_id(0), y = get_global_id(1);
    float3 from = (float3)(0, 0, -3), to = normalize((float3)(x / 256.0f - 1, y / 256.0f - 1, 1.5f));
    float near = 1e9f;
    for (int s = 0; s < 16; s++) {
        float3 m = from - (float3)((s & 3) - 1.5f, (s >> 2) - 1.5f, 0.3f * s);
        float p = dot(m, to), q = dot(m, m) - 0.2f, d = p * p - q;
        near = fmin(near, -p - sqrt(fmax(d, 0.0f)));
    }
    c[y * 512 + x] = near;
}

// Sobel of bytes: 1024x1024 by 16x16; 1048576, 1, 1048576
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int x = get_global_id(0), y = get_global_id(1), w = 1024, i = y * w + x;
    if (x < 1 || y < 1 || x > 1022 || y > 1022)
        return;
    int gx = a[i - w + 1] + 2 * a[i + 1] + a[i + w + 1] - a[i - w - 1] - 2 * a[i - 1] - a[i + w - 1];
    int gy = a[i + w - 1] + 2 * a[i + w] + a[i + w + 1] - a[i - w - 1] - 2 * a[i - w] - a[i - w + 1];
    c[i] = min(255u, abs(gx) + abs(gy));
}

// blur of float4: 512x512 by 16x16; 262144, 25, 262144
kernel void k(global const float4 *a, global const float *b, global float4 *c)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += a[clamp(y + dy, 0, 511) * 512 + clamp(x + dx, 0, 511)] * b[(dy + 2) * 5 + dx + 2];
    c[y * 512 + x] = sum;
}

// game of life: 1024x1024 by 16x16; 1048576, 1, 1048576
kernel void k(global const uchar *a, global const uchar *b, global uchar *c)
{
    int x = get_global_id(0), y = get_global_id(1), n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                n += a[((y + dy) & 1023) * 1024 + ((x + dx) & 1023)] & 1;
    c[y * 1024 + x] = n == 3 || (n == 2 && a[y * 1024 + x] & 1);
}

// stencil in space: 128x128x64 by 32x4x1; 1048576, 1, 1048576
kernel void k(global const float *a, global const float *b, global float *c)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), i = (z * 128 + y) * 128 + x;
    if (x == 0 || y == 0 || z == 0 || x == 127 || y == 127 || z == 63)
        return;
    c[i] = a[i] * -6 + a[i - 1] + a[i + 1] + a[i - 128] + a[i + 128] + a[i - 16384] + a[i + 16384];
}

// matrix by vector, a row a work-item: 1024 by 64; 1048576, 1024, 1024
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int j = 0; j < 1024; j++)
        sum += a[i * 1024 + j] * b[j];
    c[i] = sum;
}

// matrix by vector, a column a work-item: 1024 by 64; 1048576, 1024, 1024
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int j = 0; j < 1024; j++)
        sum += a[j * 1024 + i] * b[j];
    c[i] = sum;
}

// matrix product: 256x256 by 16x16; 65536, 65536, 65536
kernel void k(global const float *a, global const float *b, global float *c)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int j = 0; j < 256; j++)
        sum += a[y * 256 + j] * b[j * 256 + x];
    c[y * 256 + x] = sum;
}

// matrix product by tiles: 256x256 by 16x16; 65536, 65536, 65536
kernel void k(global const float *a, global const float *b, global float *c)
{
    local float at[16][16], bt[16][16];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (int t = 0; t < 256; t += 16) {
        at[ly][lx] = a[y * 256 + t + lx];
        bt[ly][lx] = b[(t + ly) * 256 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++)
            sum += at[ly][j] * bt[j][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * 256 + x] = sum;
}

// matrix product by float4: 64x256 by 16x16; 16384, 16384, 16384
kernel void k(global const float4 *a, global const float4 *b, global float4 *c)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = 0;
    for (int j = 0; j < 64; j++) {
        float4 r = a[y * 64 + j];
        sum += r.x * b[4 * j * 64 + x] + r.y * b[(4 * j + 1) * 64 + x];
        sum += r.z * b[(4 * j + 2) * 64 + x] + r.w * b[(4 * j + 3) * 64 + x];
    }
    c[y * 64 + x] = sum;
}

// products of bytes: 8192 by 64; 524288, 64, 8192
kernel void k(global const char4 *a, global const char4 *b, global int *c)
{
    int i = get_global_id(0), sum = 0;
    for (int j = 0; j < 64; j++) {
        char4 x = a[i * 64 + j], y = b[j];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    c[i] = sum;
}

// gather: 1048576; 1048576, 1048576, 1048576
kernel void k(global const float *a, global const uint *b, global float *c)
{
    int i = get_global_id(0);
    c[i] = a[b[i] & 0xfffff];
}

// steps of seven and sixteen: 524288; 1048576, 1, 524288
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    c[i] = a[i * 7 & 0xfffff] + a[i * 16 & 0xfffff];
}

// sparse rows: 32768; 65536, 786432, 32768
kernel void k(global const float *a, global const uint *b, global float *c)
{
    int i = get_global_id(0), n = 8 + (i & 15);
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += a[b[i * 24 + j] & 0xffff] * (float)(j + 1);
    c[i] = sum;
}

// search by halves: 131072; 65536, 1, 131072
kernel void k(global const int *a, global const int *b, global int *c)
{
    int i = get_global_id(0), x = i * 7919 & 0x7fffffff, low = 0, high = 65536;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    c[i] = low;
}

// random numbers: 262144; 1, 1, 262144
kernel void k(global const uint *a, global const uint *b, global uint *c)
{
    uint x = get_global_id(0) * 2654435761u + 1;
    for (int j = 0; j < 64; j++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    c[get_global_id(0)] = x;
}

// option prices: 131072; 131072, 131072, 131072
float below(float d)
{
    return 0.5f * erfc(-d * 0.70710678f);
}
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    float s = fabs(a[i]) + 20, x = fabs(b[i]) + 18, t = 1.5f, root = 0.3f * sqrt(t);
    float d = (log(s / x) + 0.065f * t) / root;
    c[i] = s * below(d) - x * exp(-0.02f * t) * below(d - root);
}

// sines, cosines, tangents: 131072; 131072, 131072, 131072
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    c[i] = sin(a[i]) * cos(b[i]) + tan(a[i]);
}

// powers: 131072; 131072, 131072, 131072
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    c[i] = pow(fabs(a[i]) + 1, b[i] * 0.1f) + exp2(a[i]);
}

// roots of doubles: 65536; 1, 1, 65536
kernel void k(global const double *a, global const double *b, global double *c)
{
    double x = get_global_id(0) * 0.001;
    for (int j = 0; j < 32; j++)
        x = fma(x, 0.99, sqrt(x + 1.0) * 0.01);
    c[get_global_id(0)] = x;
}

// softmax, a row a work-item: 4096 by 64; 524288, 1, 524288
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0) * 128;
    float most = -1e30f, sum = 0;
    for (int j = 0; j < 128; j++)
        most = fmax(most, a[i + j]);
    for (int j = 0; j < 128; j++)
        sum += exp(a[i + j] - most);
    for (int j = 0; j < 128; j++)
        c[i + j] = exp(a[i + j] - most) / sum;
}

// quotients of ints: 524288; 1, 524288, 524288
kernel void k(global const int *a, global const int *b, global int *c)
{
    int i = get_global_id(0);
    c[i] = (b[i] & 0xffff) / ((i & 127) + 1) + b[i] % 17;
}

// quotients of uints: 524288; 1, 524289, 524288
kernel void k(global const uint *a, global const uint *b, global uint *c)
{
    int i = get_global_id(0);
    c[i] = b[i] / (b[i + 1] % 1000 + 1);
}

// rows and columns by division: 1048576; 1048576, 1024, 1048576
kernel void k(global const float *a, global const int *b, global float *c)
{
    int i = get_global_id(0), w = 1000 + (b[0] & 1);
    c[i] = a[i] + (float)(i / w) - (float)(i % w);
}

// bits counted: 524288; 524288, 524288, 524288
kernel void k(global const uint *a, global const uint *b, global uint *c)
{
    int i = get_global_id(0);
    c[i] = popcount(b[i]) + clz(b[i]) + rotate(b[i], 7u) + mul_hi(b[i], a[i]);
}

// checksum: 32768; 1048576, 1, 32768
kernel void k(global const uchar *a, global const uint *b, global uint *c)
{
    int i = get_global_id(0);
    uint r = ~0u;
    for (int j = 0; j < 32; j++) {
        r ^= a[i * 32 + j];
        for (int n = 0; n < 8; n++)
            r = (r >> 1) ^ (0xedb88320u & -(r & 1));
    }
    c[i] = ~r;
}

// checksum by a table: 32768; 1048576, 256, 32768
kernel void k(global const uchar *a, global const uint *b, global uint *c)
{
    int i = get_global_id(0);
    uint r = ~0u;
    for (int j = 0; j < 32; j++)
        r = b[(r ^ a[i * 32 + j]) & 255] ^ (r >> 8);
    c[i] = ~r;
}

// rounds of a hash: 131072; 1, 64, 131072
kernel void k(global const uint *a, global const uint *b, global uint *c)
{
    uint p = get_global_id(0), q = 0xefcdab89, r = 0x98badcfe, s = 0x10325476;
    for (int j = 0; j < 48; j++) {
        uint f = (q & r) | (~q & s), t = s;
        s = r;
        r = q;
        q += rotate(p + f + b[j] + j * 0x9e3779b9u, (uint)(7 + (j & 3) * 5));
        p = t;
    }
    c[get_global_id(0)] = p ^ q ^ r ^ s;
}

// switch: 524288; 1, 524288, 524288
kernel void k(global const int *a, global const int *b, global int *c)
{
    int i = get_global_id(0), v = b[i] & 0xffff;
    switch (v & 7) {
    case 0: v += 1; break;
    case 1: v *= 3; break;
    case 2: v ^= 0x55; break;
    case 3: v = -v; break;
    case 4: v >>= 2; break;
    case 5: v = v * 5; break;
    case 6: v -= 7; break;
    default: v = ~v;
    }
    c[i] = v;
}

// private array sorted: 32768; 1, 262144, 262144
kernel void k(global const int *a, global const int *b, global int *c)
{
    int i = get_global_id(0), t[8];
    for (int j = 0; j < 8; j++)
        t[j] = b[i * 8 + j];
    for (int x = 0; x < 8; x++)
        for (int y = 0; y < 7 - x; y++)
            if (t[y] > t[y + 1]) {
                int z = t[y];
                t[y] = t[y + 1];
                t[y + 1] = z;
            }
    for (int j = 0; j < 8; j++)
        c[i * 8 + j] = t[j];
}

// private array with an index: 32768; 1, 32768, 32768
kernel void k(global const int *a, global const int *b, global int *c)
{
    int i = get_global_id(0), t[32], sum = 0;
    for (int j = 0; j < 32; j++)
        t[j] = i + j;
    for (int j = 0; j < 32; j++) {
        int x = (b[i] + j) & 31;
        sum += t[x] & 0xff;
        t[x] = sum;
    }
    c[i] = sum;
}

// nearest centre: 65536; 524288, 128, 65536
kernel void k(global const float *a, global const float *b, global int *c)
{
    int i = get_global_id(0), which = 0;
    float least = 1e30f;
    for (int n = 0; n < 16; n++) {
        float d = 0;
        for (int f = 0; f < 8; f++) {
            float t = a[f * 65536 + i] - b[n * 8 + f];
            d += t * t;
        }
        if (d < least) {
            least = d;
            which = n;
        }
    }
    c[i] = which;
}

// cosine transform: 65536; 524288, 64, 524288
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0) * 8;
    for (int u = 0; u < 8; u++) {
        float sum = 0;
        for (int j = 0; j < 8; j++)
            sum += a[i + j] * b[u * 8 + j];
        c[i + u] = sum;
    }
}

// butterflies of four: 65536; 262144, 1, 262144
kernel void k(global const float2 *a, global const float2 *b, global float2 *c)
{
    int i = get_global_id(0), n = 65536;
    float2 s = a[i] + a[i + 2 * n], d = a[i] - a[i + 2 * n];
    float2 t = a[i + n] + a[i + 3 * n], u = a[i + n] - a[i + 3 * n];
    c[4 * i] = s + t;
    c[4 * i + 1] = (float2)(d.x + u.y, d.y - u.x);
    c[4 * i + 2] = s - t;
    c[4 * i + 3] = (float2)(d.x - u.y, d.y + u.x);
}

// atomics on a thousand places: 262144; 1, 262144, 1024
kernel void k(global const float *a, global const uint *b, global int *c)
{
    atomic_add(&c[b[get_global_id(0)] & 1023], 1);
}

// atomics on one place: 262144; 1, 1, 1
kernel void k(global const float *a, global const float *b, global int *c)
{
    atomic_inc(c);
}

// greatest and least: 262144; 1, 262144, 128
kernel void k(global const float *a, global const int *b, global int *c)
{
    int i = get_global_id(0);
    atomic_max(&c[i & 63], b[i]);
    atomic_min(&c[64 + (i & 63)], b[i]);
}

// groups of 100: 500000 by 100; 500000, 500000, 500000
kernel void k(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    c[i] = a[i] * 2 + b[i];
}

// groups of 33 with a barrier: 330000 by 33; 330000, 1, 330000
kernel void k(global const float *a, global const float *b, global float *c)
{
    local float t[33];
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[get_global_id(0)] = t[32 - l];
}

// nothing: 1048576; 1, 1, 1
kernel void k(global const float *a, global const float *b, global float *c)
{
}

// indices stored: 1048576; 1, 1, 1048576
kernel void k(global const float *a, global const float *b, global int *c)
{
    c[get_global_id(0)] = get_global_id(0);
}

// sum by size_t: 1048576; 1048576, 1048576, 1048576
kernel void k(global const float *a, global const float *b, global float *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

// matrix product by size_t: 256x256 by 16x16; 65536, 65536, 65536
kernel void k(global const float *a, global const float *b, global float *c)
{
    size_t x = get_global_id(0), y = get_global_id(1), n = get_global_size(0);
    float sum = 0;
    for (size_t j = 0; j < n; j++)
        sum += a[y * n + j] * b[j * n + x];
    c[y * n + x] = sum;
}

// stencil by size_t: 1024x1024 by 64x4; 1048576, 1, 1048576
kernel void k(global const float *a, global const float *b, global float *c)
{
    size_t x = get_global_id(0), y = get_global_id(1), n = get_global_size(0);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        c[y * n + x] = a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x] - 4 * a[y * n + x];
}

// points by size_t: 262144; 786432, 786432, 786432
struct point {
    float x, y, z;
};
kernel void k(global const float *a, global const float *b, global float *c)
{
    size_t i = get_global_id(0);
    struct point p = ((global const struct point *)a)[i], q = ((global const struct point *)b)[i];
    p.x += q.x;
    p.y *= q.y;
    p.z -= q.z;
    ((global struct point *)c)[i] = p;
}

// float4 from anywhere: 262144; 262144, 262144, 262144
kernel void k(global const float4 *a, global const uint *b, global float4 *c)
{
    int i = get_global_id(0);
    c[i] = a[b[i] & 0x3ffff] * 2.0f;
}

// float4 to anywhere: 262144; 262144, 1, 262144
kernel void k(global const float4 *a, global const uint *b, global float4 *c)
{
    uint i = get_global_id(0);
    c[i * 7919u & 0x3ffff] = a[i] + 1.0f;
}
