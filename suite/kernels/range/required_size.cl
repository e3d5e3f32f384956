/* envisa
about = "A required group size, folded into the code by the compiler"
sizes = { N = 96 }
global = ["N"]
local = [48]
features = ["required-size", "slm", "barrier"]
args = [
  { name = "out", value = "zeros:u32:N", check = "exact", why = "integers" },
]
*/
kernel __attribute__((reqd_work_group_size(48, 1, 1)))
void required_size(global uint *out)
{
    local uint t[48];
    uint l = get_local_id(0);
    t[l] = l * l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[(l + 5) % get_local_size(0)] + get_group_id(0) * get_local_size(0);
}
