/* check
what = "a value is handed over in a ring whose producer moves its end before it stores"
finds = ["F0004"]
global = [32]
local = [16]
options = "-cl-std=CL2.0"
[args]
ring = "zeros:i32:8"
end = "zeros:i32:1"
o = "zeros:i32:8"
*/
kernel void k(global int *ring, global atomic_int *end, global int *o)
{
    if (get_local_id(0)) return;
    if (get_group_id(0) == 0) {
        for (int n = 0; n < 8; n++) {
#ifdef BUG
            atomic_store_explicit(end, n + 1, memory_order_release, memory_scope_device);
            ring[n] = n * n; // <-
#else
            ring[n] = n * n;
            atomic_store_explicit(end, n + 1, memory_order_release, memory_scope_device);
#endif
        }
    } else {
        int last = atomic_load_explicit(end, memory_order_acquire, memory_scope_device);
        for (int n = 0; n < last; n++) o[n] = ring[n]; // <-
    }
}
