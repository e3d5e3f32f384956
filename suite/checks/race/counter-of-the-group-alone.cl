/* check
what = "the last group to arrive sums up what others stored; the counter orders memory for a group alone"
finds = ["F0004"]
says = "part["
global = [256]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "rand:f32:256:7"
part = "zeros:f32:4"
done = "zeros:i32:1"
sum = "zeros:f32:1"
*/
kernel void k(global const float *a, global volatile float *part, global atomic_int *done, global float *sum)
{
    local int last;
    float own = work_group_reduce_add(a[get_global_id(0)]);
    if (get_local_id(0) == 0) {
        part[get_group_id(0)] = own; // <-
#ifdef BUG
        int before = atomic_fetch_add_explicit(done, 1, memory_order_acq_rel, memory_scope_work_group);
#else
        int before = atomic_fetch_add_explicit(done, 1, memory_order_acq_rel, memory_scope_device);
#endif
        last = before == (int)get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last && get_local_id(0) == 0) {
        float all = 0;
        for (int g = 0; g < (int)get_num_groups(0); g++) all += part[g]; // <-
        *sum = all;
    }
}
