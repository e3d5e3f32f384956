/* envisa
about = "Permutation of two vectors with masks known only at run time"
sizes = { N = 64 }
global = ["N"]
local = [16]
features = ["i32x4", "shuffle", "indirect"]
args = [
  { name = "a", value = "rand:i32x4:N:1" },
  { name = "b", value = "rand:i32x4:N:2" },
  { name = "m", value = "rand:u32x4:N:3:0..8" },
  { name = "x", value = "zeros:i32x4:N", check = "exact", why = "moves only" },
]
*/
kernel void permute(global const int4 *a, global const int4 *b, global const uint4 *m, global int4 *x)
{
    size_t i = get_global_id(0);
    int4 va = a[i], vb = b[i];
    uint4 k = m[i];
    int t[8] = { va.x, va.y, va.z, va.w, vb.x, vb.y, vb.z, vb.w };
    x[i] = (int4)(t[k.x], t[k.y], t[k.z], t[k.w]);
}
