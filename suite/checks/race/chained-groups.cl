/* check
what = "each group waits for a flag of the one before and adds to its sum, without a fence between"
finds = ["F0004"]
says = "buffer sums"
options = "-cl-std=CL3.0"
global = [64]
local = [16]
[args]
a = "iota:i32:64"
sums = "zeros:i32:4"
ready = "zeros:i32:4"
o = "zeros:i32:64"
*/
#ifdef BUG
#define FENCE(order)
#else
#define FENCE(order) atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, order, memory_scope_device)
#endif
kernel void k(global const int *a, global int *sums, global volatile int *ready, global int *o)
{
    local int before;
    int g = get_group_id(0);
    int sum = work_group_reduce_add(a[get_global_id(0)]);
    if (get_local_id(0) == 0) {
        before = 0;
        if (g > 0) {
            while (atomic_or(&ready[g - 1], 0) == 0) { }
            FENCE(memory_order_acquire);
            before = sums[g - 1]; // <-
        }
        sums[g] = before + sum; // <-
        FENCE(memory_order_release);
        atomic_xchg(&ready[g], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = before + a[get_global_id(0)];
}
