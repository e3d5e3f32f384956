/* envisa
about = "long and ulong: sums, products, shifts, compares (emulated where the device lacks them)"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["i64", "u64", "emulation", "addc", "mul_hi"]
known = [
  { output = "out", devices = ["cri"], elements = 441, why = "ocloc 26.27 miscompiles it: its native code, too, stores `x * y` before it is computed, and multiplies the upper halves for `mul_hi` of ulong as signed numbers" },
]
args = [
  { name = "a", value = "rand:i64:N:1" },
  { name = "b", value = "rand:i64:N:2" },
  { name = "out", value = "zeros:i64:N*9", check = "exact", why = "integers" },
]
*/
kernel void int64_ops(global const long *a, global const long *b, global long *out)
{
    size_t i = get_global_id(0);
    long x = a[i], y = b[i];
    ulong ux = x, uy = y;
    global long *o = out + i * 9;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x << (y & 63);
    o[4] = x >> (y & 63);
    o[5] = ux >> (uy & 63);
    o[6] = (x < y) ? x : y;
    o[7] = (ux > uy ? ux : uy) ^ (ulong)(x == y);
    o[8] = mul_hi(ux, uy);
}
