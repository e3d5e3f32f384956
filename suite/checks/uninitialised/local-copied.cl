/* check
what = "local memory that nothing wrote is copied to the result"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "zeros:i32:64"
t = "local:256"
*/
kernel void k(global int *a, local int *t)
{
    int i = get_local_id(0);
#ifdef BUG
    if (i & 1)
#endif
        t[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[i ^ 1]; // <-
}
