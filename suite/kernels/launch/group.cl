/* envisa
about = "one group that adds to 64 numbers: what a launch costs"
sizes = { N = 64 }
global = ["N"]
local = [64]
features = ["i32"]
args = [
  { name = "x", value = "iota:u32:N", check = "exact", why = "sums of integers" },
  { name = "a", value = "u32:3" },
]
*/
kernel void group(global uint *x, uint a)
{
    size_t i = get_global_id(0);
    x[i] += a;
}
