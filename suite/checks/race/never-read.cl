/* check
what = "stores to local memory that nobody reads"
finds = ["F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
p = "local:512"
*/
kernel void k(global int *a, local int *p)
{
    int i = get_local_id(0);
    p[i] = a[i]; // <-
#ifdef BUG
    barrier(CLK_GLOBAL_MEM_FENCE);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    p[i + 1] = i; // <-
}
