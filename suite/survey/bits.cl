// Bits, codes and ciphers.

// ChaCha20: 16384 by 64; 16384, 16384, 305419896
#define QUARTER(a, b, c, d) \
    a += b; d = rotate(d ^ a, 16u); c += d; b = rotate(b ^ c, 12u); \
    a += b; d = rotate(d ^ a, 8u); c += d; b = rotate(b ^ c, 7u);
__kernel void chacha20(__global const uint16 *in, __global uint16 *out, uint nonce)
{
    uint i = get_global_id(0);
    uint16 s = (uint16)(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 1, 2, 3, 4, 5, 6, 7, 8, i, 0, nonce, nonce);
    uint16 x = s;
    for (int r = 0; r < 10; r++) {
        QUARTER(x.s0, x.s4, x.s8, x.sc)
        QUARTER(x.s1, x.s5, x.s9, x.sd)
        QUARTER(x.s2, x.s6, x.sa, x.se)
        QUARTER(x.s3, x.s7, x.sb, x.sf)
        QUARTER(x.s0, x.s5, x.sa, x.sf)
        QUARTER(x.s1, x.s6, x.sb, x.sc)
        QUARTER(x.s2, x.s7, x.s8, x.sd)
        QUARTER(x.s3, x.s4, x.s9, x.se)
    }
    out[i] = in[i] ^ (x + s);
}

// AES rounds with a table in local memory: 32768 by 256; 256, 44, 32768, 32768
#define T(n, v) rotate(t0[((v) >> 8 * (n)) & 0xff], 8u * (n))
__kernel void aes_rounds(__global const uint *table, __constant uint *key, __global const uint4 *in, __global uint4 *out)
{
    __local uint t0[256];
    t0[get_local_id(0)] = table[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 s = in[get_global_id(0)] ^ vload4(0, key);
    for (int r = 1; r < 11; r++) {
        uint4 n;
        n.x = T(0, s.x) ^ T(1, s.y) ^ T(2, s.z) ^ T(3, s.w);
        n.y = T(0, s.y) ^ T(1, s.z) ^ T(2, s.w) ^ T(3, s.x);
        n.z = T(0, s.z) ^ T(1, s.w) ^ T(2, s.x) ^ T(3, s.y);
        n.w = T(0, s.w) ^ T(1, s.x) ^ T(2, s.y) ^ T(3, s.z);
        s = n ^ vload4(r, key);
    }
    out[get_global_id(0)] = s;
}

// SHA-1 of blocks: 16384 by 64; 262144, 81920
__kernel void sha1(__global const uint *blocks, __global uint *digests)
{
    uint id = get_global_id(0), w[16];
    for (int i = 0; i < 16; i++) {
        uint v = blocks[id * 16 + i];
        w[i] = as_uint(as_uchar4(v).wzyx);
    }
    uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
    for (int i = 0; i < 80; i++) {
        uint f, k;
        if (i >= 16)
            w[i & 15] = rotate(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15], 1u);
        if (i < 20) {
            f = bitselect(d, c, b);
            k = 0x5a827999;
        } else if (i < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (i < 60) {
            f = (b & c) | (d & (b | c));
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint t = rotate(a, 5u) + f + e + k + w[i & 15];
        e = d;
        d = c;
        c = rotate(b, 30u);
        b = a;
        a = t;
    }
    digests[id * 5] = a + 0x67452301;
    digests[id * 5 + 1] = b + 0xefcdab89;
    digests[id * 5 + 2] = c + 0x98badcfe;
    digests[id * 5 + 3] = d + 0x10325476;
    digests[id * 5 + 4] = e + 0xc3d2e1f0;
}

// CRC by four tables: 16384 by 64; 262144, 1024, 16384, 16
__kernel void crc32_by_4(__global const uint *data, __constant uint *table, __global uint *crc, int words)
{
    int id = get_global_id(0);
    uint c = ~0u;
    for (int i = 0; i < words; i++) {
        c ^= data[id * words + i];
        c = table[768 + (c & 255)] ^ table[512 + (c >> 8 & 255)] ^ table[256 + (c >> 16 & 255)] ^ table[c >> 24];
    }
    crc[id] = ~c;
}

// Morton codes of three: 262144; 262144, 262144
ulong spread(ulong x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffUL;
    x = (x | x << 16) & 0x1f0000ff0000ffUL;
    x = (x | x << 8) & 0x100f00f00f00f00fUL;
    x = (x | x << 4) & 0x10c30c30c30c30c3UL;
    return (x | x << 2) & 0x1249249249249249UL;
}
__kernel void morton3(__global const uint4 *p, __global ulong *code)
{
    size_t i = get_global_id(0);
    code[i] = spread(p[i].x) | spread(p[i].y) << 1 | spread(p[i].z) << 2;
}

// XTEA: 65536 by 128; 65536, 65536, 1, 2, 3, 4
__kernel void xtea(__global const uint2 *in, __global uint2 *out, uint k0, uint k1, uint k2, uint k3)
{
    uint key[4] = {k0, k1, k2, k3}, sum = 0;
    uint2 v = in[get_global_id(0)];
    for (int i = 0; i < 32; i++) {
        v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + key[sum & 3]);
        sum += 0x9E3779B9;
        v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + key[(sum >> 11) & 3]);
    }
    out[get_global_id(0)] = v;
}

// base64: 131072 by 64; 393216, 524288
__constant char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
__kernel void base64(__global const uchar *in, __global char *out)
{
    size_t i = get_global_id(0);
    uint v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[4 * i] = alphabet[v >> 18];
    out[4 * i + 1] = alphabet[v >> 12 & 63];
    out[4 * i + 2] = alphabet[v >> 6 & 63];
    out[4 * i + 3] = alphabet[v & 63];
}

// distances of Hamming: 8192 by 64; 32768, 64, 8192
__kernel void hamming(__global const ulong4 *codes, __global const ulong4 *queries, __global ushort2 *best)
{
    int i = get_global_id(0);
    ulong4 c = codes[i];
    ushort least = 999, which = 0;
    for (ushort q = 0; q < 16; q++) {
        ulong4 p = popcount(c ^ queries[q]);
        ushort d = (ushort)(p.x + p.y + p.z + p.w);
        if (d < least) {
            least = d;
            which = q;
        }
    }
    best[i] = (ushort2)(least, which);
}

// Keccak: 4096 by 64; 102400, 102400
__constant ulong iota_constants[24] = {
    0x0000000000000001UL, 0x0000000000008082UL, 0x800000000000808aUL, 0x8000000080008000UL, 0x000000000000808bUL,
    0x0000000080000001UL, 0x8000000080008081UL, 0x8000000000008009UL, 0x000000000000008aUL, 0x0000000000000088UL,
    0x0000000080008009UL, 0x000000008000000aUL, 0x000000008000808bUL, 0x800000000000008bUL, 0x8000000000008089UL,
    0x8000000000008003UL, 0x8000000000008002UL, 0x8000000000000080UL, 0x000000000000800aUL, 0x800000008000000aUL,
    0x8000000080008081UL, 0x8000000000008080UL, 0x0000000080000001UL, 0x8000000080008008UL};
__constant uchar turn[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
__constant uchar lane[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
__kernel void keccak(__global const ulong *in, __global ulong *out)
{
    int id = get_global_id(0);
    ulong s[25], bc[5];
    for (int i = 0; i < 25; i++)
        s[i] = in[id * 25 + i];
    for (int round = 0; round < 24; round++) {
        for (int i = 0; i < 5; i++)
            bc[i] = s[i] ^ s[i + 5] ^ s[i + 10] ^ s[i + 15] ^ s[i + 20];
        for (int i = 0; i < 5; i++) {
            ulong t = bc[(i + 4) % 5] ^ rotate(bc[(i + 1) % 5], (ulong)1);
            for (int j = 0; j < 25; j += 5)
                s[j + i] ^= t;
        }
        ulong t = s[1];
        for (int i = 0; i < 24; i++) {
            ulong u = s[lane[i]];
            s[lane[i]] = rotate(t, (ulong)turn[i]);
            t = u;
        }
        for (int j = 0; j < 25; j += 5) {
            for (int i = 0; i < 5; i++)
                bc[i] = s[j + i];
            for (int i = 0; i < 5; i++)
                s[j + i] ^= ~bc[(i + 1) % 5] & bc[(i + 2) % 5];
        }
        s[0] ^= iota_constants[round];
    }
    for (int i = 0; i < 25; i++)
        out[id * 25 + i] = s[i];
}

// matrices of bits transposed: 32768 by 32; 32768, 32768
__kernel void transpose_bits(__global const uint *in, __global uint *out)
{
    uint rows[32];
    int id = get_global_id(0), base = get_group_id(0) * 32;
    for (int i = 0; i < 32; i++)
        rows[i] = in[base + i];
    uint v = 0;
    for (int i = 0; i < 32; i++)
        v |= (rows[i] >> (id & 31) & 1) << i;
    out[id] = v;
}
