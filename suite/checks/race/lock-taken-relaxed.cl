/* check
what = "a lock is taken by a relaxed exchange, and a sum under it is plain"
finds = ["F0004"]
global = [16]
local = [1]
options = "-cl-std=CL2.0"
[args]
lock = "zeros:i32:1"
s = "zeros:i32:1"
*/
kernel void k(global atomic_int *lock, global int *s)
{
    int done = 0;
    while (!done) {
        int free = 0;
#ifdef BUG
        if (atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_relaxed, memory_order_relaxed, memory_scope_device)) {
#else
        if (atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_acquire, memory_order_relaxed, memory_scope_device)) {
#endif
            *s += (int)get_global_id(0); // <-
            atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
            done = 1;
        }
    }
}
