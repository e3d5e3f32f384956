/* envisa
about = "Lanes that return early, from inside a loop too"
sizes = { N = 200 }
global = ["N"]
local = [40]
features = ["divergence", "return", "loop"]
args = [
  { name = "a", value = "rand:i32:N:1:0..64" },
  { name = "out", value = "fill:i32:N:-1", check = "exact", why = "integers" },
]
*/
kernel void early_return(global const int *a, global int *out)
{
    size_t i = get_global_id(0);
    int x = a[i];
    if (x < 8)
        return;
    for (int k = 0; k < 32; k++) {
        if (x == k * 2) {
            out[i] = k;
            return;
        }
    }
    out[i] = x * 1000;
}
