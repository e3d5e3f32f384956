/* envisa
about = "Float atomics of the extension: add, minimum and maximum, in global memory"
devices = ["dg2", "pvc"]
why_devices = "the compiler offers cl_ext_float_atomics there"
sizes = { N = 128 }
global = ["N"]
local = [32]
features = ["atomic-global", "atomic-float", "f32"]
args = [
  { name = "in", value = "rand:i32:N:1:-100..100" },
  { name = "acc", value = "zeros:f32:3", check = "exact", why = "sums of whole numbers below 2^24 are exact in any order" },
]
*/
#ifdef PEER
kernel void float_native(global const int *in, volatile global float *acc)
{
    float v = (float)in[get_global_id(0)];
    for (int k = 0; k < 3; k++) {
        volatile global uint *p = (volatile global uint *)(acc + k);
        uint seen = *p, old;
        do {
            old = seen;
            float o = as_float(old), n = k == 0 ? o + v : k == 1 ? fmin(o, v) : fmax(o, v);
            seen = atomic_cmpxchg(p, old, as_uint(n));
        } while (seen != old);
    }
}
#else
kernel void float_native(global const int *in, volatile global float *acc)
{
    float v = (float)in[get_global_id(0)];
    volatile global atomic_float *a = (volatile global atomic_float *)acc;
    atomic_fetch_add_explicit(a, v, memory_order_relaxed, memory_scope_device);
    atomic_fetch_min_explicit(a + 1, v, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max_explicit(a + 2, v, memory_order_relaxed, memory_scope_device);
}
#endif
