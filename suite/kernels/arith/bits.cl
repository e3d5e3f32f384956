/* envisa
about = "Bit operations: popcount, leading zeros, rotate, logic of three, bit-select, fields"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["u32", "popcount", "clz", "rotate", "bfn"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "b", value = "rand:u32:N:2" },
  { name = "out", value = "zeros:u32:N*8", check = "exact", why = "integers" },
]
*/
kernel void bits(global const uint *a, global const uint *b, global uint *out)
{
    size_t i = get_global_id(0);
    uint x = a[i], y = b[i];
    global uint *o = out + i * 8;
    o[0] = popcount(x);
    o[1] = clz(x >> (y & 31));
    o[2] = rotate(x, y);
    o[3] = (x & y) | (~x & (x >> 3));
    o[4] = bitselect(x, y, 0x0ff00ff0u);
    o[5] = (x ^ y ^ 0x5a5a5a5au) & ~(x << 1);
    o[6] = ((x >> 5) & 0x3ff) | ((y & 0x7f) << 20);
    o[7] = popcount((ushort)x) + clz((uchar)y) * 100;
}
