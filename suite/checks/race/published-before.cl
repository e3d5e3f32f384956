/* check
what = "a group's flag is set before its sum"
finds = ["F0004", "F0003"]
global = [128]
local = [32]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:128"
s = "zeros:i32:4"
f = "zeros:i32:4"
o = "zeros:i32:4"
*/
kernel void k(global const int *a, global int *s, volatile global atomic_int *f, global int *o)
{
    int g = get_group_id(0);
    int x = work_group_reduce_add(a[get_global_id(0)]);
    if (get_local_id(0) == 0) {
#ifdef BUG
        atomic_store_explicit(&f[g], 1, memory_order_release, memory_scope_device);
        s[g] = x; // <-
#else
        s[g] = x;
        atomic_store_explicit(&f[g], 1, memory_order_release, memory_scope_device);
#endif
        int before = 0;
        if (g > 0 && atomic_load_explicit(&f[g - 1], memory_order_acquire, memory_scope_device))
            before = s[g - 1]; // <-
        o[g] = before;
    }
}
