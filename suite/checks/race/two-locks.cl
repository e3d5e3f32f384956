/* check
what = "two places are guarded by the lock of the first one"
finds = ["F0004"]
global = [32]
local = [16]
options = "-cl-std=CL2.0"
[args]
lock = "zeros:i32:2"
sum = "zeros:i32:2"
*/
void take(volatile global atomic_int *lock)
{
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_acquire, memory_order_relaxed,
                                                    memory_scope_device)) free = 0;
}
kernel void k(volatile global atomic_int *lock, global int *sum)
{
    if (get_local_id(0)) return;
    int g = get_group_id(0);
#ifdef BUG
    int which = g;
#else
    int which = 0;
#endif
    take(lock + which);
    sum[0] += g + 1; // <-
    sum[1] += 2;
    atomic_store_explicit(lock + which, 0, memory_order_release, memory_scope_device);
}
