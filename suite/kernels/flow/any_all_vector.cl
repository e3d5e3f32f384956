/* envisa
about = "any and all on vector comparisons, short-circuit conditions"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["any", "all", "divergence", "i32x4"]
args = [
  { name = "a", value = "rand:i32x4:N:1:-10..10" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
kernel void any_all_vector(global const int4 *a, global int *out)
{
    size_t i = get_global_id(0);
    int4 v = a[i];
    int r = 0;
    if (any(v > 7))
        r |= 1;
    if (all(v > -6))
        r |= 2;
    if ((v.x > 0 && v.y < 0) || (v.z == v.w && v.x != 0))
        r |= 4;
    out[i] = r;
}
