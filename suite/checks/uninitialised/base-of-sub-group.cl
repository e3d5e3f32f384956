/* check
what = "a compaction of a sub-group by a scan, whose base comes from a work-item that need not take part"
finds = ["F0006", "F0003", "F0004", "F0007", "F0030"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
n = "zeros:i32:1"
o = "zeros:i32:64"
*/
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void k(global const int *a, global int *n, global int *o)
{
    int g = get_global_id(0), keep = a[g] & 1;
    int before = sub_group_scan_exclusive_add(keep), total = sub_group_reduce_add(keep);
    int base;
#ifdef BUG
    if (keep && get_sub_group_local_id() == 0) base = atomic_add(n, total);
#else
    if (get_sub_group_local_id() == 0) base = atomic_add(n, total);
#endif
    base = sub_group_broadcast(base, 0); // <-
    if (keep) o[base + before] = a[g]; // <-
}
