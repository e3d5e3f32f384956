/* check
what = "a group hands a value to another one by atomics whose scope is the group"
finds = ["F0004"]
global = [32]
local = [16]
options = "-cl-std=CL2.0"
[args]
value = "zeros:i32:1"
flag = "zeros:i32:1"
o = "zeros:i32:1"
*/
#ifdef BUG
#define SCOPE memory_scope_work_group
#else
#define SCOPE memory_scope_device
#endif
kernel void k(global int *value, global atomic_int *flag, global int *o)
{
    if (get_local_id(0) != 0) return;
    if (get_group_id(0) == 0) {
        *value = 42; // <-
        atomic_store_explicit(flag, 1, memory_order_release, SCOPE);
    } else if (atomic_load_explicit(flag, memory_order_acquire, SCOPE)) {
        *o = *value; // <-
    }
}
