// Pictures of bytes and shorts, as programs that process images have them.

// bilateral filter: 512x256 by 16x16; 131072, 131072, 512, 256, 0.02, 0.001
float weight(int d, int r2, float space, float range)
{
    return exp(-(float)r2 * space - (float)(d * d) * range);
}
__kernel void bilateral(__global const uchar *src, __global float *dst, const int width, const int height,
                        const float space, const float range)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int centre = src[y * width + x];
    float sum = 0.0f, norm = 0.0f;
    for (int dy = -3; dy <= 3; ++dy) {
        for (int dx = -3; dx <= 3; ++dx) {
            int xx = clamp(x + dx, 0, width - 1);
            int yy = clamp(y + dy, 0, height - 1);
            int v = src[yy * width + xx];
            float w = weight(v - centre, dx * dx + dy * dy, space, range);
            sum += w * v;
            norm += w;
        }
    }
    dst[y * width + x] = sum / norm;
}

// erosion by a cross: 1008x504 by 16x8; 500000, 500000, 1000, 500
kernel void erode(global const uchar *in, global uchar *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    uchar m = in[y * w + x];
    if (x > 0)
        m = min(m, in[y * w + x - 1]);
    if (x < w - 1)
        m = min(m, in[y * w + x + 1]);
    if (y > 0)
        m = min(m, in[(y - 1) * w + x]);
    if (y < h - 1)
        m = min(m, in[(y + 1) * w + x]);
    out[y * w + x] = m;
}

// resize of RGBA by fixed point: 480x360 by 32x8; 307200, 172800, 640, 480, 480, 360
__kernel void resize_bilinear(__global const uchar4 *src, __global uchar4 *dst, int sw, int sh, int dw, int dh)
{
    int x = get_global_id(0), y = get_global_id(1);
    int fx = (int)(((long)x * 2 + 1) * sw * 1024 / dw - 1024);
    int fy = (int)(((long)y * 2 + 1) * sh * 1024 / dh - 1024);
    fx = max(fx, 0);
    fy = max(fy, 0);
    int x0 = fx >> 11, y0 = fy >> 11;
    int x1 = min(x0 + 1, sw - 1), y1 = min(y0 + 1, sh - 1);
    int wx = fx & 2047, wy = fy & 2047;
    int4 a = convert_int4(src[y0 * sw + x0]), b = convert_int4(src[y0 * sw + x1]);
    int4 c = convert_int4(src[y1 * sw + x0]), d = convert_int4(src[y1 * sw + x1]);
    int4 top = a * (2048 - wx) + b * wx;
    int4 low = c * (2048 - wx) + d * wx;
    int4 v = ((top >> 4) * (2048 - wy) + (low >> 4) * wy + (1 << 17)) >> 18;
    dst[y * dw + x] = convert_uchar4_sat(v);
}

// demosaic of a Bayer pattern: 512x512 by 16x16; 262144, 786432, 512, 512
#define AT(x, y) ((int)raw[clamp((y), 0, h - 1) * w + clamp((x), 0, w - 1)])
__kernel void demosaic(__global const ushort *raw, __global uchar *rgb, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    int here = AT(x, y);
    int cross = (AT(x - 1, y) + AT(x + 1, y) + AT(x, y - 1) + AT(x, y + 1)) / 4;
    int diagonal = (AT(x - 1, y - 1) + AT(x + 1, y - 1) + AT(x - 1, y + 1) + AT(x + 1, y + 1)) / 4;
    int sides = (AT(x - 1, y) + AT(x + 1, y)) / 2;
    int column = (AT(x, y - 1) + AT(x, y + 1)) / 2;
    int r, g, b;
    if ((y & 1) == 0) {
        if ((x & 1) == 0) {
            r = here; g = cross; b = diagonal;
        } else {
            r = sides; g = here; b = column;
        }
    } else {
        if ((x & 1) == 0) {
            r = column; g = here; b = sides;
        } else {
            r = diagonal; g = cross; b = here;
        }
    }
    int i = 3 * (y * w + x);
    rgb[i] = r >> 8;
    rgb[i + 1] = g >> 8;
    rgb[i + 2] = b >> 8;
}

// histogram equalised: 65536 by 256; 1048576, 256 of 0..8192, 1048576
__kernel void equalise(__global const uchar *src, __global const uint *hist, __global uchar *dst)
{
    __local uint cdf[256];
    const uint l = get_local_id(0);
    cdf[l] = hist[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 256; step <<= 1) {
        uint v = l >= step ? cdf[l - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        cdf[l] += v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint first = cdf[0], total = cdf[255] - first;
    for (int i = 0; i < 16; i++) {
        uint at = get_group_id(0) * 4096 + i * 256 + l;
        dst[at] = (uchar)((ulong)(cdf[src[at]] - first) * 255 / total);
    }
}

// NV12 to RGBA: 320x240 by 16x8; 307200, 153600, 307200, 640
__kernel void nv12_to_rgba(__global const uchar *luma, __global const uchar2 *chroma, __global uchar4 *rgba, int stride)
{
    int x = get_global_id(0), y = get_global_id(1);
    uchar2 uv = chroma[y * (stride >> 1) + x];
    int u = uv.x - 128, v = uv.y - 128;
    int r = 409 * v + 128, g = -100 * u - 208 * v + 128, b = 516 * u + 128;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            int at = (2 * y + j) * stride + 2 * x + i;
            int l = 298 * (luma[at] - 16);
            rgba[at] = (uchar4)(convert_uchar_sat((l + r) >> 8), convert_uchar_sat((l + g) >> 8),
                                convert_uchar_sat((l + b) >> 8), 255);
        }
}

// integral of rows: 512 by 32; 524288, 524288, 1024
__kernel void integral_rows(__global const uchar *src, __global uint *dst, int width)
{
    int y = get_global_id(0);
    uint sum = 0;
    for (int x = 0; x < width; x++) {
        sum += src[y * width + x];
        dst[y * width + x] = sum;
    }
}

// integral of columns: 1024 by 64; 524288, 524288, 1024, 512
__kernel void integral_columns(__global const uint *src, __global uint *dst, int width, int height)
{
    int x = get_global_id(0);
    uint sum = 0;
    for (int y = 0; y < height; y++) {
        sum += src[y * width + x];
        dst[y * width + x] = sum;
    }
}

// median of nine: 512x512 by 32x4; 262144, 262144, 512
#define SORT(a, b) { uchar t = min(a, b); b = max(a, b); a = t; }
__kernel void median3x3(__global const uchar *in, __global uchar *out, int width)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x == get_global_size(0) - 1 || y == get_global_size(1) - 1) {
        out[y * width + x] = in[y * width + x];
        return;
    }
    __global const uchar *p = in + (y - 1) * width + x - 1;
    uchar a = p[0], b = p[1], c = p[2];
    uchar d = p[width], e = p[width + 1], f = p[width + 2];
    uchar g = p[2 * width], h = p[2 * width + 1], i = p[2 * width + 2];
    SORT(b, c); SORT(e, f); SORT(h, i); SORT(a, b); SORT(d, e); SORT(g, h);
    SORT(b, c); SORT(e, f); SORT(h, i); SORT(a, d); SORT(f, i); SORT(e, h);
    SORT(d, g); SORT(b, e); SORT(c, f); SORT(e, h); SORT(e, c); SORT(g, e); SORT(e, c);
    out[y * width + x] = e;
}

// twelve bits to eight: 131072 by 128; 131072, 131072, 0.0625
__kernel void develop(__global const ushort4 *raw, __global uchar4 *out, float scale)
{
    size_t i = get_global_id(0);
    float4 v = convert_float4(raw[i] >> (ushort4)(4)) * scale;
    out[i] = convert_uchar4_sat_rte(v);
}

// blend of premultiplied colours: 262144; 262144, 262144
__kernel void blend_over(__global const uchar4 *src, __global uchar4 *dst)
{
    int i = get_global_id(0);
    uchar4 s = src[i], d = (uchar4)(i, i >> 8, 77, 200);
    ushort4 t = convert_ushort4(d) * (ushort)(255 - s.w) + (ushort)128;
    t = (t + (t >> (ushort)8)) >> (ushort)8;
    dst[i] = add_sat(s, convert_uchar4(t));
}

// pixels to bits: 32768 by 64; 1048576, 32768, 128
__kernel void pack_mask(__global const uchar *gray, __global uint *mask, uchar threshold)
{
    int i = get_global_id(0);
    uint m = 0;
    for (int b = 0; b < 32; b++)
        m |= (uint)(gray[32 * i + b] >= threshold) << b;
    mask[i] = m;
}

// blur of rows with a halo: 100000 by 100; 100010, 100000
#define GROUP 100
#define R 5
__kernel void box_rows(__global const uchar *src, __global uchar *dst)
{
    __local ushort tile[GROUP + 2 * R];
    int l = get_local_id(0), base = get_group_id(0) * GROUP;
    for (int i = l; i < GROUP + 2 * R; i += GROUP)
        tile[i] = src[base + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    ushort sum = 0;
    for (int i = 0; i <= 2 * R; i++)
        sum += tile[l + i];
    dst[base + l] = sum / (2 * R + 1);
}

// picture turned by a quarter: 512x384 by 8x8; 196608, 196608
__kernel void rotate90(__global const ushort *src, __global ushort *dst)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    dst[x * h + (h - 1 - y)] = src[y * w + x];
}

// local binary pattern: 640x320 by 20x5; 204800, 204800, 640, 320
__constant int2 around[8] = {
    (int2)(-1, -1), (int2)(0, -1), (int2)(1, -1), (int2)(1, 0), (int2)(1, 1), (int2)(0, 1), (int2)(-1, 1), (int2)(-1, 0)
};
__kernel void lbp(__global const uchar *in, __global uchar *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    uchar c = in[y * w + x];
    uint code = 0;
    for (int i = 0; i < 8; i++) {
        int2 at = clamp((int2)(x, y) + around[i], (int2)(0), (int2)(w - 1, h - 1));
        code |= (in[at.y * w + at.x] > c) ? 1u << i : 0;
    }
    out[y * w + x] = code;
}
