/* envisa
about = "A range that the group size does not divide: the last groups are smaller"
sizes = { W = 37, H = 21 }
global = ["W", "H"]
local = [16, 8]
peer_local = [1, 1]
features = ["non-uniform", "2d-range"]
args = [
  { name = "out", value = "zeros:u32x4:W*H", check = "exact", why = "integers" },
]
*/
/* The peers have no non-uniform groups: there the ids are worked out from the group size. */
#ifdef PEER
kernel void non_uniform(global uint4 *out)
{
    uint x = get_global_id(0), y = get_global_id(1);
    uint w = get_global_size(0), h = get_global_size(1);
    uint gx = x / 16, gy = y / 8;
    uint sx = min(16u, w - gx * 16), sy = min(8u, h - gy * 8);
    out[y * w + x] = (uint4)(x % 16 + 100 * (y % 8), gx + 100 * gy, sx + 100 * sy, 16 + 800);
}
#else
kernel void non_uniform(global uint4 *out)
{
    uint x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] =
        (uint4)(get_local_id(0) + 100 * get_local_id(1), get_group_id(0) + 100 * get_group_id(1),
                get_local_size(0) + 100 * get_local_size(1),
                get_enqueued_local_size(0) + 100 * get_enqueued_local_size(1));
}
#endif
