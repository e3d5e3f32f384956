/* check
what = "a chain of groups: each releases its total for its own group alone"
finds = ["F0004"]
says = "total["
global = [64]
local = [16]
options = "-cl-std=CL2.0"
[args]
a = "rand:i32:64:5:0..100"
total = "zeros:i32:4"
flag = "zeros:i32:4"
o = "zeros:i32:64"
*/
#ifdef BUG
#define SCOPE memory_scope_work_group
#else
#define SCOPE memory_scope_device
#endif
kernel void k(global const int *a, global int *total, global atomic_int *flag, global int *o)
{
    local int before;
    int g = get_group_id(0);
    int sum = work_group_scan_inclusive_add(a[get_global_id(0)]);
    if (get_local_id(0) == 15) {
        int base = 0;
        if (g > 0) {
            while (!atomic_load_explicit(&flag[g - 1], memory_order_acquire, memory_scope_device));
            base = total[g - 1]; // <-
        }
        total[g] = base + sum; // <-
        atomic_store_explicit(&flag[g], 1, memory_order_release, SCOPE);
        before = base;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = before + sum;
}
