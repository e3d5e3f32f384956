/* envisa
about = "A range that starts at an offset"
sizes = { N = 96 }
global = ["N"]
local = [32]
offset = [1000]
features = ["offset"]
args = [
  { name = "out", value = "zeros:u32:N+1000", check = "exact", why = "integers" },
]
*/
kernel void offset_1d(global uint *out)
{
    uint i = get_global_id(0);
    out[i] = i * 3 + get_local_id(0) + get_group_id(0) * 7;
}
