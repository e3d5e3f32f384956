/* envisa
about = "Loop whose trip count differs from lane to lane"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["divergence", "loop"]
args = [
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel void collatz(global uint *out)
{
    uint n = get_global_id(0) + 1, steps = 0;
    while (n != 1 && steps < 500) {
        n = (n & 1) ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[get_global_id(0)] = steps;
}
