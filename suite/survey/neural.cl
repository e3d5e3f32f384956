// Layers of neural nets.

// convolution NCHW: 56x56x32 by 8x8x1; 53824, 4608, 32, 100352, 16, 58
__kernel void conv3x3_nchw(__global const float *in, __global const float *w, __global const float *bias,
                           __global float *out, int channels, int pitch)
{
    int x = get_global_id(0), y = get_global_id(1), o = get_global_id(2);
    float sum = bias[o];
    for (int c = 0; c < channels; c++)
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++)
                sum += in[(c * pitch + y + ky) * pitch + x + kx] * w[((o * channels + c) * 3 + ky) * 3 + kx];
    out[(o * get_global_size(1) + y) * get_global_size(0) + x] = max(sum, 0.0f);
}

// convolution NHWC: 32x28x28 by 32x2x1; 14400, 4608, 25088, 16, 30
__kernel void conv3x3_nhwc(__global const float *in, __global const float *w, __global float *out, int cin, int pitch)
{
    int o = get_global_id(0), x = get_global_id(1), y = get_global_id(2);
    int cout = get_global_size(0), width = get_global_size(1);
    float acc = 0.f;
    for (int t = 0; t < 9; t++) {
        __global const float *p = in + ((y + t / 3) * pitch + x + t % 3) * cin;
        for (int c = 0; c < cin; c++)
            acc += p[c] * w[(t * cin + c) * cout + o];
    }
    out[(y * width + x) * cout + o] = acc;
}

// depthwise convolution: 8x112x112 by 8x7x1; 102152, 72, 100352, 113
__kernel void depthwise(__global const float4 *in, __global const float4 *w, __global float4 *out, int pitch)
{
    int c = get_global_id(0), x = get_global_id(1), y = get_global_id(2), n = get_global_size(0);
    float4 sum = 0.0f;
    for (int ky = -1; ky <= 1; ky++)
        for (int kx = -1; kx <= 1; kx++) {
            if (y + ky < 0 || x + kx < 0)
                continue;
            sum = mad(in[((y + ky) * pitch + x + kx) * n + c], w[((ky + 1) * 3 + kx + 1) * n + c], sum);
        }
    out[(y * get_global_size(1) + x) * n + c] = clamp(sum, 0.0f, 6.0f);
}

// softmax of rows by groups: 65536 by 128; 512000, 512000, 1000
__kernel void softmax_rows(__global const float *in, __global float *out, int n)
{
    __local float tmp[128];
    int l = get_local_id(0), row = get_group_id(0);
    __global const float *p = in + row * n;
    float m = -INFINITY;
    for (int i = l; i < n; i += 128)
        m = fmax(m, p[i]);
    tmp[l] = m;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 64; s > 0; s >>= 1) {
        if (l < s)
            tmp[l] = fmax(tmp[l], tmp[l + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    m = tmp[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int i = l; i < n; i += 128)
        sum += native_exp(p[i] - m);
    tmp[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 64; s > 0; s >>= 1) {
        if (l < s)
            tmp[l] += tmp[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float scale = 1.0f / tmp[0];
    for (int i = l; i < n; i += 128)
        out[row * n + i] = native_exp(p[i] - m) * scale;
}

// layers normalised by a reduction of work-groups: 65536 by 64; 393216, 384, 384, 393216, 384; -cl-std=CL2.0
__kernel void layernorm(__global const float *x, __global const float *gamma, __global const float *beta,
                        __global float *y, int n)
{
    size_t row = get_group_id(0), l = get_local_id(0);
    float sum = 0.0f, squares = 0.0f;
    for (size_t i = l; i < n; i += get_local_size(0)) {
        float v = x[row * n + i];
        sum += v;
        squares += v * v;
    }
    float mean = work_group_reduce_add(sum) / n;
    float variance = work_group_reduce_add(squares) / n - mean * mean;
    float scale = rsqrt(variance + 1e-5f);
    for (size_t i = l; i < n; i += get_local_size(0))
        y[row * n + i] = (x[row * n + i] - mean) * scale * gamma[i] + beta[i];
}

// attention of one head: 256 by 32; 4096, 4096, 4096, 4096, 256, 0.125
__kernel void attention(__global const float4 *q, __global const float4 *k, __global const float4 *v,
                        __global float4 *out, int n, float scale)
{
    int row = get_global_id(0);
    float4 query[16], acc[16];
    for (int i = 0; i < 16; i++) {
        query[i] = q[row * 16 + i] * scale;
        acc[i] = 0.0f;
    }
    float most = -1e30f, sum = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 s4 = 0.0f;
        for (int i = 0; i < 16; i++)
            s4 += query[i] * k[j * 16 + i];
        float s = s4.x + s4.y + s4.z + s4.w;
        float now = fmax(most, s), fix = exp(most - now), p = exp(s - now);
        sum = sum * fix + p;
        for (int i = 0; i < 16; i++)
            acc[i] = acc[i] * fix + p * v[j * 16 + i];
        most = now;
    }
    for (int i = 0; i < 16; i++)
        out[row * 16 + i] = acc[i] / sum;
}

// matrices of bytes with scales: 128x128 by 16x8; 8192, 8192, 128, 16384, 64
__kernel void gemm_int8(__global const char4 *a, __global const char4 *b, __global const float *scale,
                        __global float *c, int k4)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int k = 0; k < k4; k++) {
        int4 u = convert_int4(a[y * k4 + k]), v = convert_int4(b[x * k4 + k]);
        int4 p = u * v;
        sum += p.s0 + p.s1 + p.s2 + p.s3;
    }
    c[y * get_global_size(0) + x] = (float)sum * scale[x];
}

// nibbles to floats, by a vector: 8192 by 64; 262144, 32768, 1024, 8192, 128
__kernel void gemv_q4(__global const uint *w, __global const half *scales, __global const float *x,
                      __global float *y, int words)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < words / 4; i++) {
        uint q = w[(row * words / 4 + i) & 262143];
        float part = 0;
        for (int j = 0; j < 8; j++, q >>= 4)
            part += ((int)(q & 15) - 8) * x[8 * i + j];
        sum += part * vload_half(row * 4 + (i >> 3), scales);
    }
    y[row] = sum;
}

// pool of the greatest, with where it was: 64x64x16 by 8x8x1; 262144, 65536, 65536, 128
__kernel void maxpool(__global const float *in, __global float *out, __global uchar *where, int w)
{
    int x = get_global_id(0), y = get_global_id(1), c = get_global_id(2);
    float best = -MAXFLOAT;
    uchar which = 0;
    for (uchar i = 0; i < 4; i++) {
        float v = in[(c * w + 2 * y + (i >> 1)) * w + 2 * x + (i & 1)];
        if (v > best) {
            best = v;
            which = i;
        }
    }
    int at = (c * get_global_size(1) + y) * get_global_size(0) + x;
    out[at] = best;
    where[at] = which;
}

// rows of a table, with positions: 64x2048 by 64x1; 1024000, 131072, 2048 of 0..16000, 131072
__kernel void embed(__global const float *table, __global const float *position, __global const int *token,
                    __global float *out)
{
    size_t d = get_global_id(0), t = get_global_id(1), n = get_global_size(0);
    out[t * n + d] = table[token[t] * n + d] + position[t * n + d];
}

// GELU by erf and by tanh: 131250 by 250; 131250, 131250, 131072
__kernel void gelu(__global const float *x, __global float *y, uint n)
{
    uint i = get_global_id(0);
    if (i >= n) return;
    float v = 4.0f * x[i];
    float exact = 0.5f * v * (1.0f + erf(v * M_SQRT1_2_F));
    float near = 0.5f * v * (1.0f + tanh(0.79788456f * (v + 0.044715f * v * v * v)));
    y[i] = i & 1 ? exact : near;
}

// a cell of an LSTM: 65536; 262144, 65536, 65536, 65536
float sigmoid(float x)
{
    return 1.0f / (1.0f + exp(-x));
}
__kernel void lstm_cell(__global const float *gates, __global const float *c_prev, __global float *c, __global float *h)
{
    int i = get_global_id(0), unit = i & 255, batch = i >> 8;
    __global const float *g = gates + batch * 1024;
    float now = sigmoid(g[256 + unit]) * c_prev[i] + sigmoid(g[unit]) * tanh(g[512 + unit]);
    c[i] = now;
    h[i] = sigmoid(g[768 + unit]) * tanh(now);
}

// rotary positions of halves: 131072 by 128; 131072, 16384, 131072, 64
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
__kernel void rope(__global const half2 *in, __global const float2 *table, __global half2 *out, int head)
{
    int i = get_global_id(0), pair = i % (head / 2), position = i / (head * 4);
    float2 turn = table[position * (head / 2) + pair], v = convert_float2(in[i]);
    out[i] = convert_half2((float2)(v.x * turn.x - v.y * turn.y, v.x * turn.y + v.y * turn.x));
}
