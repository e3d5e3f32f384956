/* envisa
about = "Every work-item function in two dimensions"
sizes = { W = 24, H = 12 }
global = ["W", "H"]
local = [8, 4]
features = ["work-item", "2d-range"]
args = [
  { name = "out", value = "zeros:u32x4:W*H", check = "exact", why = "integers" },
]
*/
kernel void ids_2d(global uint4 *out)
{
    uint x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] =
        (uint4)(get_local_id(0) + 100 * get_local_id(1), get_group_id(0) + 100 * get_group_id(1),
                get_num_groups(0) + 100 * get_num_groups(1), get_local_size(0) + 100 * get_local_size(1));
}
