// Arithmetic of integers.

// high halves of products: 131072 by 128; 131072, 131072, 131072
__kernel void mulhi64(__global const ulong *a, __global const ulong *b, __global ulong *c)
{
    int i = get_global_id(0);
    ulong x = a[i], y = b[i];
    c[i] = mul_hi(x, y) ^ (x * y) ^ (ulong)mul_hi((long)x, (long)y);
}

// powers by a modulus: 16384 by 64; 16384, 16384, 16384, 1000000007
__kernel void modpow(__global const uint *base, __global const uint *exponent, __global uint *out, uint m)
{
    int i = get_global_id(0);
    ulong b = base[i] % m, r = 1;
    for (uint e = exponent[i]; e; e >>= 1) {
        if (e & 1)
            r = r * b % m;
        b = b * b % m;
    }
    out[i] = (uint)r;
}

// greatest common divisors: 65536 by 64; 65536, 65536, 65536
__kernel void gcd(__global const uint *a, __global const uint *b, __global uint *c)
{
    int i = get_global_id(0);
    uint x = a[i], y = b[i];
    while (y != 0) {
        uint t = x % y;
        x = y;
        y = t;
    }
    c[i] = x;
}

// greatest common divisors by shifts: 32768 by 64; 32768, 32768, 32768
__kernel void binary_gcd(__global const uint *a, __global const uint *b, __global uint *c)
{
    int i = get_global_id(0);
    uint u = a[i] | 1, v = b[i] | 2;
    v >>= 31 - clz(v & -v);
    while (u != v) {
        if (u < v) {
            uint t = u;
            u = v;
            v = t;
        }
        u -= v;
        u >>= 31 - clz(u & -u);
    }
    c[i] = u;
}

// numbers to days: 131072 by 64; 131072 of 0..4000000, 131072
__kernel void civil_from_days(__global const int *days, __global int4 *date)
{
    int i = get_global_id(0), z = days[i] + 719468 - 1000000;
    int era = (z >= 0 ? z : z - 146096) / 146097;
    uint doe = z - era * 146097;
    uint yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    uint doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int month = mp < 10 ? mp + 3 : mp - 9;
    date[i] = (int4)(yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) / 5 + 1, (z % 7 + 10) % 7);
}

// quotients of long: 65536 by 64; 65536, 65536, 65536
__kernel void divide_long(__global const long *a, __global const long *b, __global long2 *c)
{
    int i = get_global_id(0);
    long d = b[i] >> (i & 31);
    d = d == 0 || d == -1 ? 3 : d;
    c[i] = (long2)(a[i] / d, a[i] % d);
}

// products of Montgomery: 65536 by 64; 65536, 65536, 65536, 4294967291, 858993459
uint redc(ulong t, uint n, uint inverse)
{
    uint m = (uint)t * inverse;
    ulong u = (ulong)m * n;
    return (uint)((t >> 32) - (u >> 32)) + ((t >> 32) < (u >> 32) ? n : 0);
}
__kernel void montgomery(__global const uint *a, __global const uint *b, __global uint *c, uint n, uint inverse)
{
    int i = get_global_id(0);
    uint x = a[i] % n, y = b[i] % n;
    for (int k = 0; k < 16; k++) {
        uint z = redc((ulong)x * y, n, inverse);
        x = y;
        y = z;
    }
    c[i] = y;
}

// transform by a prime: 65536 by 128; 131072 of 0..998244353, 65536 of 0..998244353, 131072, 998244353, 256
__kernel void ntt_stage(__global const uint *in, __global const uint *root, __global uint *out, uint p, uint half_size)
{
    uint i = get_global_id(0), j = i % half_size, k = (i - j) * 2 + j;
    uint u = in[k], v = (ulong)in[k + half_size] * root[j * (get_global_size(0) / half_size)] % p;
    uint s = u + v;
    out[k] = s >= p ? s - p : s;
    out[k + half_size] = u >= v ? u - v : u + p - v;
}

// sums and products of 256 bits: 16384 by 64; 131072, 131072, 262144
__kernel void multiply256(__global const uint *a, __global const uint *b, __global uint *c)
{
    int id = get_global_id(0);
    uint r[16] = {0};
    for (int i = 0; i < 8; i++) {
        uint carry = 0, x = a[id * 8 + i];
        for (int j = 0; j < 8; j++) {
            ulong t = (ulong)x * b[id * 8 + j] + r[i + j] + carry;
            r[i + j] = (uint)t;
            carry = t >> 32;
        }
        r[i + 8] = carry;
    }
    for (int i = 0; i < 16; i++)
        c[id * 16 + i] = r[i];
}

// roots by fixed point: 131072 by 128; 131072, 131072
__kernel void sqrt_q16(__global const uint *in, __global uint *out)
{
    int i = get_global_id(0);
    ulong x = (ulong)in[i] << 16, r = 0, bit = 1UL << 46;
    while (bit != 0) {
        if (x >= r + bit) {
            x -= r + bit;
            r = (r >> 1) + bit;
        } else
            r >>= 1;
        bit >>= 2;
    }
    out[i] = (uint)r;
}

// indices by mad24 and mul24: 640x480 by 32x4; 307200, 307200, 640
__kernel void mirrored(__global const int *in, __global int *out, int pitch)
{
    int x = get_global_id(0), y = get_global_id(1);
    int from = mad24(y, pitch, (int)(pitch - 1 - x));
    out[mad24(y, pitch, x)] = mul24(in[from] >> 20, y - 240) + hadd(in[from], x) - abs_diff(x, y);
}
