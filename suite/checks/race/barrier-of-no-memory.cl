/* check
what = "a barrier without flags between stores to global memory and others' loads"
finds = ["F0004"]
global = [128]
local = [64]
[args]
a = "zeros:i32:128"
b = "zeros:i32:128"
*/
kernel void k(global int *a, global int *b)
{
    int i = get_global_id(0);
    a[i] = 3 * i; // <-
#ifdef BUG
    barrier(0);
#else
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    b[i] = a[i ^ 63]; // <-
}
