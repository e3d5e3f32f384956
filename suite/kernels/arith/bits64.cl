/* envisa
about = "Bit operations on 64-bit values"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["u64", "popcount", "clz", "rotate", "emulation"]
args = [
  { name = "a", value = "rand:u64:N:1" },
  { name = "out", value = "zeros:u64:N*4", check = "exact", why = "integers" },
]
*/
kernel void bits64(global const ulong *a, global ulong *out)
{
    size_t i = get_global_id(0);
    ulong x = a[i];
    out[i * 4] = popcount(x);
    out[i * 4 + 1] = clz(x >> (x & 63));
    out[i * 4 + 2] = rotate(x, (ulong)(i & 63));
    out[i * 4 + 3] = (x ^ (x >> 33)) * 0xff51afd7ed558ccdUL;
}
