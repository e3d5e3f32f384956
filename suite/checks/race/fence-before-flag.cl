/* check
what = "the reader of a flag fences before it looks at it instead of behind"
finds = ["F0004"]
global = [32]
local = [16]
options = "-cl-std=CL2.0"
[args]
value = "zeros:i32:1"
flag = "zeros:i32:1"
o = "zeros:i32:1"
*/
kernel void k(global int *value, global atomic_int *flag, global int *o)
{
    if (get_local_id(0)) return;
    if (get_group_id(0) == 0) {
        *value = 42; // <-
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
#ifdef BUG
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        if (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)) *o = *value; // <-
#else
        int ready = atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        if (ready) *o = *value;
#endif
    }
}
