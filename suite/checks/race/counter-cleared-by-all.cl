/* check
what = "a counter of all groups is cleared by the kernel that counts"
finds = ["F0004", "F0003"]
global = [128]
local = [32]
[args]
a = "iota:i32:128"
n = "zeros:i32:1"
*/
kernel void k(global const int *a, volatile global int *n)
{
    int i = get_global_id(0);
#ifdef BUG
    if (i == 0)
        *n = 0; // <-
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    if (a[i] % 2)
        atomic_inc(n); // <-
}
