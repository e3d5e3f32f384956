/* envisa
about = "Nested branches that diverge within a sub-group"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["divergence"]
args = [
  { name = "a", value = "rand:i32:N:1" },
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
]
*/
kernel void nested_if(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i], r = 0;
    if (x & 1) {
        if (x & 2) {
            r = x * 3;
            if (x & 4)
                r += out[i] + 11;
        } else {
            r = x - 7;
        }
    } else if (x > 0) {
        r = a[(i + 1) & 255];
        if (r < 0)
            r = -r;
    } else {
        r = x ^ 0x55555555;
    }
    out[i] = r;
}
