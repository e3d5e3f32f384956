// Dense linear algebra.

// SGEMM with four by four results a work-item: 64x64 by 8x8; 16384, 16384, 65536, 64, 64
__kernel void sgemm_4x4(__global const float4 *a, __global const float4 *bt, __global float *c, int k4, int n4)
{
    int col = get_global_id(0), row = get_global_id(1);
    float4 acc[4] = {(float4)(0), (float4)(0), (float4)(0), (float4)(0)};
    for (int k = 0; k < k4; k++) {
        float4 b0 = bt[(4 * col) * k4 + k], b1 = bt[(4 * col + 1) * k4 + k];
        float4 b2 = bt[(4 * col + 2) * k4 + k], b3 = bt[(4 * col + 3) * k4 + k];
        #pragma unroll
        for (int r = 0; r < 4; r++) {
            float4 v = a[(4 * row + r) * k4 + k];
            acc[r] += (float4)(dot(v, b0), dot(v, b1), dot(v, b2), dot(v, b3));
        }
    }
    for (int r = 0; r < 4; r++)
        vstore4(acc[r], col, c + (4 * row + r) * 4 * n4);
}

// SGEMM by tiles of odd sizes: 252x203 by 9x7; 36540, 45360, 51156, 203, 252, 180
#define TM 7
#define TN 9
#define TK 20
__kernel void sgemm_odd(__global const float *A, __global const float *B, __global float *C, int M, int N, int K)
{
    __local float As[TM][TK];
    __local float Bs[TK][TN];
    int tx = get_local_id(0), ty = get_local_id(1), id = ty * TN + tx;
    int row0 = get_group_id(1) * TM, col0 = get_group_id(0) * TN;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int i = id; i < TM * TK; i += TM * TN)
            As[i / TK][i % TK] = A[(row0 + i / TK) * K + k0 + i % TK];
        for (int i = id; i < TK * TN; i += TM * TN)
            Bs[i / TN][i % TN] = B[(k0 + i / TN) * N + col0 + i % TN];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TK; k++)
            acc = fma(As[ty][k], Bs[k][tx], acc);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[(row0 + ty) * N + col0 + tx] = acc;
}

// matrix transposed by vector: 65536 by 64; 1048576, 1024, 1024, 1024, 64
__kernel void gemv_t(__global const float *A, __global const float *x, __global float *y, int n, __local float *work)
{
    int col = get_group_id(0), l = get_local_id(0), step = get_local_size(0);
    float sum = 0;
    for (int r = l; r < n; r += step)
        sum += A[r * n + col] * x[r];
    work[l] = sum;
    for (int s = step / 2; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            work[l] += work[l + s];
    }
    if (l == 0)
        y[col] = work[0];
}

// triangular systems, each a group: 4096 by 64; 262144, 4096, 4096
#define N 64
__kernel void trsv_lower(__global const float *L, __global const float *b, __global float *x)
{
    __local float known[N];
    int i = get_local_id(0), g = get_group_id(0);
    __global const float *l = L + g * N * N;
    float sum = b[g * N + i];
    for (int j = 0; j < N; j++) {
        if (i == j)
            known[j] = sum / (4.0f + fabs(l[j * N + j]));
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i > j)
            sum -= 0.125f * l[i * N + j] * known[j];
    }
    x[g * N + i] = known[i];
}

// Cholesky in local memory: 2048 by 32; 65536, 65536
#define N 32
__kernel void cholesky32(__global const float *in, __global float *out)
{
    __local float a[N][N + 1];
    int i = get_local_id(0), g = get_group_id(0) * N * N;
    for (int j = 0; j < N; j++)
        a[j][i] = i == j ? 20.0f : 0.5f * (in[g + j * N + i] + in[g + i * N + j]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < N; k++) {
        if (i == k)
            a[k][k] = sqrt(a[k][k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i > k)
            a[i][k] /= a[k][k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = k + 1; j <= i; j++)
            a[i][j] -= a[i][k] * a[j][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = 0; j < N; j++)
        out[g + j * N + i] = i <= j ? a[j][i] : 0.0f;
}

// inverses of 4x4: 16384 by 64; 262144, 262144
__kernel void inverse4x4(__global const float *in, __global float *out)
{
    const int id = get_global_id(0);
    float m[16], inv[16];
    for (int i = 0; i < 16; i++)
        m[i] = in[id * 16 + i] + (i % 5 == 0 ? 4.0f : 0.0f);
    float s0 = m[0] * m[5] - m[4] * m[1], s1 = m[0] * m[6] - m[4] * m[2], s2 = m[0] * m[7] - m[4] * m[3];
    float s3 = m[1] * m[6] - m[5] * m[2], s4 = m[1] * m[7] - m[5] * m[3], s5 = m[2] * m[7] - m[6] * m[3];
    float c5 = m[10] * m[15] - m[14] * m[11], c4 = m[9] * m[15] - m[13] * m[11], c3 = m[9] * m[14] - m[13] * m[10];
    float c2 = m[8] * m[15] - m[12] * m[11], c1 = m[8] * m[14] - m[12] * m[10], c0 = m[8] * m[13] - m[12] * m[9];
    float d = 1.0f / (s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);
    inv[0] = m[5] * c5 - m[6] * c4 + m[7] * c3;
    inv[1] = -m[1] * c5 + m[2] * c4 - m[3] * c3;
    inv[2] = m[13] * s5 - m[14] * s4 + m[15] * s3;
    inv[3] = -m[9] * s5 + m[10] * s4 - m[11] * s3;
    inv[4] = -m[4] * c5 + m[6] * c2 - m[7] * c1;
    inv[5] = m[0] * c5 - m[2] * c2 + m[3] * c1;
    inv[6] = -m[12] * s5 + m[14] * s2 - m[15] * s1;
    inv[7] = m[8] * s5 - m[10] * s2 + m[11] * s1;
    inv[8] = m[4] * c4 - m[5] * c2 + m[7] * c0;
    inv[9] = -m[0] * c4 + m[1] * c2 - m[3] * c0;
    inv[10] = m[12] * s4 - m[13] * s2 + m[15] * s0;
    inv[11] = -m[8] * s4 + m[9] * s2 - m[11] * s0;
    inv[12] = -m[4] * c3 + m[5] * c1 - m[6] * c0;
    inv[13] = m[0] * c3 - m[1] * c1 + m[2] * c0;
    inv[14] = -m[12] * s3 + m[13] * s1 - m[14] * s0;
    inv[15] = m[8] * s3 - m[9] * s1 + m[10] * s0;
    for (int i = 0; i < 16; i++)
        out[id * 16 + i] = inv[i] * d;
}

// QR of 6x6 by rotations: 8192 by 64; 294912, 294912
#define N 6
__kernel void qr_givens(__global const float *in, __global float *out)
{
    int id = get_global_id(0), n = get_global_size(0);
    float a[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = in[(i * N + j) * n + id] + (i == j ? 3.0f : 0.0f);
    for (int j = 0; j < N; j++)
        for (int i = N - 1; i > j; i--) {
            float r = hypot(a[i - 1][j], a[i][j]);
            float c = a[i - 1][j] / r, s = a[i][j] / r;
            for (int k = j; k < N; k++) {
                float t = c * a[i - 1][k] + s * a[i][k];
                a[i][k] = c * a[i][k] - s * a[i - 1][k];
                a[i - 1][k] = t;
            }
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[(i * N + j) * n + id] = j >= i ? a[i][j] : 0.0f;
}

// double matrices: 128x128 by 8x8; 16384, 16384, 16384, 128, 1.5, 0.5
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void dgemm(__global const double *A, __global const double *B, __global double *C, uint n, double alpha, double beta)
{
    uint i = get_global_id(1), j = get_global_id(0);
    double sum = 0.0;
    for (uint k = 0; k < n; ++k)
        sum += A[i * n + k] * B[k * n + j];
    C[i * n + j] = alpha * sum + beta * C[i * n + j];
}

// complex matrices: 128x96 by 16x4; 12288, 16384, 12288, 128
__kernel void cgemm(__global const float2 *A, __global const float2 *B, __global float2 *C, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float2 sum = (float2)(0.0f, 0.0f);
    for (int k = 0; k < n; k++) {
        float2 a = A[y * n + k], b = B[k * n + x];
        sum += (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    }
    C[y * n + x] = sum;
}

// tridiagonal systems, each a work-item: 4096 by 128; 262144, 262144, 262144, 64
#define MOST 64
__kernel void thomas(__global const float *d, __global const float *e, __global float *x, int n)
{
    int id = get_global_id(0), stride = get_global_size(0);
    float cp[MOST];
    float c = e[id] / (3.0f + d[id]), v = d[id] / (3.0f + d[id]);
    cp[0] = c;
    x[id] = v;
    for (int i = 1; i < n; i++) {
        int at = i * stride + id;
        float m = 1.0f / (3.0f + d[at] - e[at] * c);
        c = e[at] * m;
        v = (d[at] - e[at] * v) * m;
        cp[i] = c;
        x[at] = v;
    }
    for (int i = n - 2; i >= 0; i--) {
        v = x[i * stride + id] - cp[i] * v;
        x[i * stride + id] = v;
    }
}
