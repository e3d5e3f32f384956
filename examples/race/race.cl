// Sums with a mistake each. The results are right on many runs, and on some devices always.

// The barrier after each step is missing: a thread may add what another one has not stored yet.
__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void reduce(global const int *in, global int *out)
{
    local int part[128];
    uint i = get_local_id(0);
    part[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = 64; n > 0; n /= 2)
        if (i < n)
            part[i] += part[i + n];
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// Every group adds to one cell, without an atomic.
__attribute__((reqd_work_group_size(32, 1, 1)))
kernel void total(global const int *in, global int *out)
{
    int sum = sub_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) == 0)
        *out += sum;
}
