/* envisa
about = "A private array too large for registers, written and read through computed indices"
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["private-array", "scratch", "loop"]
args = [
  { name = "seed", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel void large(global const uint *seed, global uint *out)
{
    size_t i = get_global_id(0);
    uint t[256];
    #pragma unroll 1
    for (uint k = 0; k < 256; k++)
        t[k] = k;
    uint x = seed[i] | 1;
    #pragma unroll 1
    for (uint k = 255; k > 0; k--) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        uint j = x % (k + 1);
        uint v = t[k]; t[k] = t[j]; t[j] = v;
    }
    uint s = 0;
    #pragma unroll 1
    for (uint k = 0; k < 256; k++)
        s = s * 31 + t[k];
    out[i] = s;
}
