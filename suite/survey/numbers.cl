// Floats, halves, doubles and their conversions.

// polynomials of halves: 131072 by 128; 131072, 131072
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
__kernel void half_poly(__global const half4 *in, __global half4 *out)
{
    int i = get_global_id(0);
    half4 x = in[i];
    out[i] = fma(fma(x, (half4)(0.5h), (half4)(1.0h)), x, (half4)(2.0h)) * (half)0.25h;
}

// halves stored with rounding: 131072; 524288, 524288
__kernel void store_halves(__global const float *in, __global half *out)
{
    size_t i = get_global_id(0);
    float4 v = vload4(i, in) * 8192.0f;
    switch (i & 3) {
    case 0: vstore_half4_rtz(v, i, out); break;
    case 1: vstore_half4_rtp(v, i, out); break;
    case 2: vstore_half4_rtn(v, i, out); break;
    default: vstore_half4_rte(v, i, out);
    }
}

// conversions that saturate: 131072 by 64; 131072, 131072, 131072, 131072
__kernel void convert_all(__global const float4 *in, __global char4 *c, __global ushort4 *s, __global int4 *l)
{
    int i = get_global_id(0);
    float4 v = in[i];
    c[i] = convert_char4_sat_rte(v * 300.0f);
    s[i] = convert_ushort4_sat_rtp(v * 70000.0f);
    l[i] = convert_int4_sat_rtn(v * 4e9f);
}

// roundings: 131072; 131072, 131072
__kernel void roundings(__global const float *in, __global float8 *out)
{
    size_t i = get_global_id(0);
    float v = in[i] * 100.0f, whole;
    float part = modf(v, &whole);
    out[i] = (float8)(floor(v), ceil(v), trunc(v), rint(v), round(v), part, whole, fmod(v, 3.0f));
}

// parts of floats: 131072 by 64; 131072, 131072, 131072
__kernel void float_parts(__global const uint *in, __global int4 *out, __global float *next)
{
    int i = get_global_id(0), e;
    float f = as_float((in[i] & 0x807fffffu) | ((in[i] >> 24 & 63) + 96) << 23);
    float m = frexp(f, &e);
    out[i] = (int4)(e, as_int(m), ilogb(f), signbit(f) | isfinite(f) << 1 | isnormal(f) << 2);
    next[i] = ldexp(nextafter(m, 2.0f), e & 15);
}

// doubles by pairs of floats: 65536 by 64; 65536, 65536, 65536
#pragma OPENCL FP_CONTRACT OFF
float2 dd_add(float2 a, float2 b)
{
    float s = a.x + b.x, v = s - a.x;
    float t = ((b.x - v) + (a.x - (s - v))) + a.y + b.y;
    float r = s + t;
    return (float2)(r, t - (r - s));
}
float2 dd_mul(float2 a, float2 b)
{
    float p = a.x * b.x, e = fma(a.x, b.x, -p);
    e += a.x * b.y + a.y * b.x;
    float r = p + e;
    return (float2)(r, e - (r - p));
}
__kernel void two_floats(__global const float2 *a, __global const float2 *b, __global float2 *c)
{
    int i = get_global_id(0);
    float2 x = (float2)(a[i].x, a[i].y * 1e-9f), y = (float2)(b[i].x, b[i].y * 1e-9f), z = x;
    for (int k = 0; k < 10; k++)
        z = dd_add(dd_mul(z, y), x);
    c[i] = z;
}

// polar coordinates: 131072; 131072, 131072
__kernel void polar(__global const float2 *in, __global float2 *out)
{
    int i = get_global_id(0);
    float2 p = in[i];
    float r = hypot(p.x, p.y), t = atan2(p.y, p.x);
    out[i] = (float2)(log1p(r), t + asin(p.x) * acos(p.y) + cbrt(p.x));
}

// doubles of libraries: 16384 by 64; 16384, 16384
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void double_math(__global const double *in, __global double *out)
{
    int i = get_global_id(0);
    double x = in[i];
    out[i] = exp(sin(x)) + atan(3.0 * x) * pow(1.0 + x * x, 0.3) - log(2.0 + x);
}

// colours mixed: 131072 by 64; 131072, 131072, 131072
__kernel void colours(__global const float4 *a, __global const float4 *b, __global float4 *c)
{
    int i = get_global_id(0);
    float4 p = a[i], q = b[i];
    float4 m = mix(p, q, smoothstep(-0.5f, 0.5f, p));
    c[i] = select(m, step(0.0f, q) - sign(p), isless(p, q));
}

// vectors shuffled by a mask: 65536 by 64; 65536, 65536, 65536
__kernel void shuffled(__global const uchar16 *in, __global const uchar16 *mask, __global uchar16 *out)
{
    size_t i = get_global_id(0);
    uchar16 v = shuffle(in[i], mask[i]);
    uchar8 low = shuffle2(v.lo, v.hi, (uchar8)(0, 8, 1, 9, 2, 10, 3, 11));
    out[i] = (uchar16)(low, v.even) ^ v;
}

// variances by doubles: 65600 by 100; 65600, 656, 100
__kernel void variance(__global const float *in, __global double *out, float n)
{
    __local double sums[100], squares[100];
    int l = get_local_id(0);
    double v = in[get_global_id(0)];
    sums[l] = v;
    squares[l] = v * v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 50, odd = 0; s > 0; odd = s & 1, s = s / 2) {
        if (l < s) {
            sums[l] += sums[l + s];
            squares[l] += squares[l + s];
        }
        if (odd && l == 0) {
            sums[0] += sums[2 * s];
            squares[0] += squares[2 * s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = squares[0] / n - (sums[0] / n) * (sums[0] / n);
}
