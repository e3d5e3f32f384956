/* envisa
about = "Linear global and local ids in three dimensions"
sizes = { W = 8, H = 4, D = 4 }
global = ["W", "H", "D"]
local = [4, 2, 2]
features = ["work-item", "3d-range"]
args = [
  { name = "out", value = "zeros:u32:W*H*D", check = "exact", why = "integers" },
]
*/
#ifdef PEER
#define GLIN ((get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0))
#define LLIN ((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0))
#else
#define GLIN get_global_linear_id()
#define LLIN get_local_linear_id()
#endif
kernel void linear_ids(global uint *out)
{
    out[GLIN] = LLIN + 1000 * get_group_id(1);
}
