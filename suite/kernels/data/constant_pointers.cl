/* envisa
about = "A program-scope table of pointers to other tables (relocations)"
options = ""
sizes = { N = 64 }
global = ["N"]
local = [32]
features = ["constant-table", "relocation"]
args = [
  { name = "a", value = "rand:u32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
constant int T0[4] = { 10, 11, 12, 13 };
constant int T1[6] = { 20, 21, 22, 23, 24, 25 };
#ifdef PEER
#define ROW(k) ((k) == 0 ? T0 : (k) == 1 ? T1 + 2 : T0 + 1)
#else
constant int *constant P[3] = { T0, T1 + 2, T0 + 1 };
#define ROW(k) P[k]
#endif
kernel void constant_pointers(global const uint *a, global int *out)
{
    size_t i = get_global_id(0);
    out[i] = ROW(a[i] % 3)[(a[i] >> 8) % 3];
}
