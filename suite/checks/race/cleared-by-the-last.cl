/* check
what = "the last work-item clears a counter that the others already count with"
finds = ["F0004"]
global = [256]
local = [128]
[args]
d = "rand:u32:256:9"
n = "zeros:u32:2"
*/
kernel void k(global const uint *d, global uint *n)
{
    local uint c;
    if (get_local_id(0) == 127) c = 0; // <-
#ifndef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (d[get_global_id(0)] % 3 == 0) atomic_inc(&c); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) n[get_group_id(0)] = c;
}
