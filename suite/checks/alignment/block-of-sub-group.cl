/* check
what = "a sub-group writes a block at an address that is no multiple of 16"
finds = ["F0024", "F0010", "F0005"]
global = [32]
local = [32]
[args]
a = "iota:u32:64"
o = "zeros:u32:64"
*/
__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global const uint *a, global uint *o)
{
    uint x = a[get_global_id(0)];
#ifdef BUG
    intel_sub_group_block_write(o + 1 + get_sub_group_id() * 16, x); // <-
#else
    intel_sub_group_block_write(o + 4 + get_sub_group_id() * 16, x);
#endif
}
