/* envisa
about = "Program-scope constant tables of several types, indexed by lane"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["constant-table", "u8", "i64", "f32"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:i64:N", check = "exact", why = "integers and whole floats" },
]
*/
constant uchar B[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
constant float F[8] = { 0.0f, 2.0f, 4.0f, 8.0f, 16.0f, 32.0f, 64.0f, 128.0f };
constant long L[4] = { -1L, 0x123456789abcdefL, 42L, -5000000000L };
kernel void constant_table(global const uint *a, global long *out)
{
    size_t i = get_global_id(0);
    uint x = a[i];
    out[i] = L[x & 3] + B[(x >> 2) & 15] * (int)F[(x >> 6) & 7];
}
