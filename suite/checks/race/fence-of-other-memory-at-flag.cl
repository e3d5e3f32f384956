/* check
what = "the fence before a flag in global memory orders local memory only"
finds = ["F0004"]
global = [32]
local = [16]
options = "-cl-std=CL2.0"
[args]
value = "zeros:f32:16"
flag = "zeros:i32:1"
o = "zeros:f32:16"
*/
#ifdef BUG
#define WHICH CLK_LOCAL_MEM_FENCE
#else
#define WHICH CLK_GLOBAL_MEM_FENCE
#endif
kernel void k(global float *value, global atomic_int *flag, global float *o)
{
    if (get_local_id(0)) return;
    if (get_group_id(0) == 0) {
        for (int n = 0; n < 16; n++) value[n] = n * 0.5f; // <-
        atomic_work_item_fence(WHICH, memory_order_release, memory_scope_device);
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        int ready = atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        for (int n = 0; n < 16; n++) if (ready) o[n] = value[15 - n]; // <-
    }
}
