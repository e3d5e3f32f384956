/* envisa
about = "Nothing: the cost of a launch, of eight groups"
sizes = { N = 1024 }
bench = { N = 1024 }
slow = { N = 2097152 }
global = ["N"]
local = [128]
features = ["launch"]
args = [
  { name = "out", value = "iota:u32:16", check = "exact", why = "the buffer must come back unchanged" },
]
*/
kernel void empty(global uint *out)
{
}
