/* envisa
about = "Every work-item function in three dimensions, with a global offset"
sizes = { W = 8, H = 6, D = 4 }
global = ["W", "H", "D"]
local = [4, 3, 2]
offset = [5, 7, 11]
features = ["work-item", "3d-range", "offset"]
args = [
  { name = "out", value = "zeros:u32x4:W*H*D", check = "exact", why = "integers" },
]
*/
kernel void ids_3d(global uint4 *out)
{
    uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint ox = x - get_global_offset(0), oy = y - get_global_offset(1), oz = z - get_global_offset(2);
    out[(oz * get_global_size(1) + oy) * get_global_size(0) + ox] =
        (uint4)(x + 100 * y + 10000 * z, get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2),
                get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2), get_num_groups(2) + 10 * get_work_dim());
}
