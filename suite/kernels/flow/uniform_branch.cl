/* envisa
about = "Branches on kernel arguments and group ids, uniform in a sub-group"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["uniform", "loop"]
args = [
  { name = "out", value = "zeros:i32:N", check = "exact", why = "integers" },
  { name = "n", value = "i32:5" },
  { name = "mode", value = "i32:3" },
]
*/
kernel void uniform_branch(global int *out, int n, int mode)
{
    int g = get_group_id(0), r = get_global_id(0);
    if (mode == 3 && (g & 1)) {
        for (int k = 0; k < n; k++)
            r = r * 3 + k;
    } else if (g == 2) {
        r = -r;
    }
    do {
        r += n;
        n -= 2;
    } while (n > 0);
    out[get_global_id(0)] = r;
}
