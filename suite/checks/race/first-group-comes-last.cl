/* check
what = "the last group to come sums up to its own number: only if the first one comes last does it leave the table"
finds = ["F0005", "F0001"]
global = [128]
local = [32]
[args]
c = "zeros:u32:1"
o = "zeros:u32:4"
*/
kernel void k(global uint *c, global uint *o)
{
    local uint ticket;
    uint group = get_group_id(0);
    if (get_local_id(0) == 0) ticket = atomic_inc(c);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ticket == get_num_groups(0) - 1 && get_local_id(0) == 0) {
#ifdef BUG
        o[group - 1] = ticket; // <-
#else
        o[group] = ticket;
#endif
    }
}
