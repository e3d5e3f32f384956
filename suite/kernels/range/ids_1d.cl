/* envisa
about = "Every work-item function in one dimension"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["work-item"]
args = [
  { name = "out", value = "zeros:u32:N*8", check = "exact", why = "integers" },
]
*/
kernel void ids_1d(global uint *out)
{
    uint i = get_global_id(0);
    global uint *o = out + i * 8;
    o[0] = i;
    o[1] = get_local_id(0);
    o[2] = get_group_id(0);
    o[3] = get_local_size(0);
    o[4] = get_global_size(0);
    o[5] = get_num_groups(0);
    o[6] = get_work_dim();
    o[7] = get_global_offset(0) + get_global_size(1) + get_local_id(2);
}
