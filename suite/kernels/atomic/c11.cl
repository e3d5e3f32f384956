/* envisa
about = "C11 atomics: fetch_add, fetch_max, exchange, compare_exchange_strong, load and store, fences"
sizes = { N = 128 }
global = ["N"]
local = [64]
features = ["atomic-global", "atomic-local", "c11-atomics", "fence"]
args = [
  { name = "in", value = "rand:i32:N:1" },
  { name = "acc", value = "zeros:i32:4", check = "exact", why = "commutative integer operations" },
]
*/
#ifdef PEER
kernel void c11(global const int *in, volatile global int *acc)
{
    int v = in[get_global_id(0)];
    atomic_add(&acc[0], v);
    atomic_max(&acc[1], v);
    atomic_add(&acc[2], v & 7);
    atomic_add(&acc[3], v >> 5);
}
#else
kernel void c11(global const int *in, volatile global atomic_int *acc)
{
    local atomic_int t;
    int v = in[get_global_id(0)];
    if (get_local_id(0) == 0)
        atomic_init(&t, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&acc[0], v, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max_explicit(&acc[1], v, memory_order_relaxed, memory_scope_device);
    atomic_fetch_add_explicit(&t, v & 7, memory_order_acq_rel, memory_scope_work_group);
    int seen = atomic_load_explicit(&acc[3], memory_order_acquire, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(&acc[3], &seen, seen + (v >> 5), memory_order_acq_rel,
                                                    memory_order_acquire, memory_scope_device))
        ;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_fetch_add(&acc[2], atomic_load(&t));
}
#endif
