// Counts bytes, first in local memory, then by global atomics.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(global const uchar *data, uint n, global uint *bins)
{
    local uint mine[256];
    uint l = get_local_id(0);
    mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine[l] != 0)
        atomic_add(&bins[l], mine[l]);
}
