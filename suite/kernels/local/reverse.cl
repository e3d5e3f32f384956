/* envisa
about = "Reverse each group's values through local memory"
sizes = { N = 256 }
global = ["N"]
local = [64]
features = ["slm", "barrier"]
args = [
  { name = "data", value = "rand:i32:N:1", check = "exact", why = "moves only" },
]
*/
kernel void reverse(global int *data)
{
    local int t[64];
    uint l = get_local_id(0), n = get_local_size(0);
    t[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = t[n - 1 - l];
}
