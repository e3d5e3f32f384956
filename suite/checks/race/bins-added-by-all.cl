/* check
what = "all work-items add what they counted to the bins of the group, bin by bin"
finds = ["F0004", "F0003"]
says = "local variable bins"
global = [64]
local = [32]
[args]
a = "rand:u32:64"
o = "zeros:u32:16"
*/
kernel void k(global const uint *a, global uint *o)
{
    local uint bins[8];
    int l = get_local_id(0);
    uint mine[8] = {0};
    mine[a[get_global_id(0)] % 8]++;
    if (l < 8)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = 0; b < 8; ++b) {
#ifdef BUG
        bins[b] += mine[b]; // <-
#else
        atomic_add(&bins[b], mine[b]);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        o[get_group_id(0) * 8 + l] = bins[l];
}
