/* envisa
about = "Private arrays of bytes and shorts, read back as words"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["private-array", "u8", "i16"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel void bytes(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    uchar b[64];
    short s[32];
    uint x = a[i];
    #pragma unroll 1
    for (int k = 0; k < 64; k++)
        b[k] = x >> (k & 24);
    #pragma unroll 1
    for (int k = 0; k < 32; k++)
        s[(k * 5) & 31] = b[(x + k) & 63] - b[k];
    uint r = 0;
    #pragma unroll 1
    for (int k = 0; k < 32; k++)
        r = r * 7 + s[(k + x) & 31] + b[k * 2];
    out[i] = r;
}
