/* envisa
about = "A small private array with computed indices"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["private-array", "indirect"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel void indexed(global const uint *a, global uint *out)
{
    size_t i = get_global_id(0);
    uint t[8];
    #pragma unroll 1
    for (uint k = 0; k < 8; k++)
        t[k] = a[i] >> (4 * k);
    uint x = a[i], s = 0;
    #pragma unroll 1
    for (uint k = 0; k < 8; k++) {
        t[x & 7] += k;
        s = s * 3 + t[(x >> 3) & 7];
        x = (x >> 5) | (x << 27);
    }
    out[i] = s;
}
