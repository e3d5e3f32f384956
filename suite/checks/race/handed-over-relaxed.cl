/* check
what = "a value is handed over by a flag in local memory that is set and read relaxed"
finds = ["F0004"]
global = [64]
local = [64]
options = "-cl-std=CL2.0"
[args]
a = "zeros:i32:64"
*/
kernel void k(global int *a)
{
    local int value;
    local atomic_int flag;
    int i = get_local_id(0);
    if (i == 0) atomic_init(&flag, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        value = a[0] + 7; // <-
#ifdef BUG
        atomic_store_explicit(&flag, 1, memory_order_relaxed, memory_scope_work_group);
#else
        atomic_store_explicit(&flag, 1, memory_order_release, memory_scope_work_group);
#endif
    }
    if (i == 63) {
#ifdef BUG
        while (atomic_load_explicit(&flag, memory_order_relaxed, memory_scope_work_group) == 0) {}
#else
        while (atomic_load_explicit(&flag, memory_order_acquire, memory_scope_work_group) == 0) {}
#endif
        a[63] = value; // <-
    }
}
