/* envisa
about = "64 groups: what a launch costs that all threads share"
sizes = { N = 16384 }
global = ["N"]
local = [256]
features = ["i32"]
args = [
  { name = "x", value = "iota:u32:N", check = "exact", why = "sums of integers" },
  { name = "a", value = "u32:3" },
]
*/
kernel void groups(global uint *x, uint a)
{
    size_t i = get_global_id(0);
    x[i] += a;
}
