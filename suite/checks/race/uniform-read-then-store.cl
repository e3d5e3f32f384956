/* check
what = "all work-items of a sub-group read one element, and one of them stores there behind a barrier for other memory"
finds = ["F0004"]
global = [8]
local = [8]
[args]
a = "iota:i32:4"
o = "zeros:i32:8"
*/
kernel void k(global int *a, global int *o)
{
    int i = get_local_id(0);
    o[i] = a[2]; // <-
#ifdef BUG
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    if (i == 0) a[2] = -1; // <-
}
