/* check
what = "two barriers in the branches of one condition"
finds = ["F0007", "F0018"]
global = [128]
local = [128]
[args]
a = "iota:i32:128"
*/
kernel void k(global int *a)
{
    local int t[128];
    int i = get_local_id(0);
#ifdef BUG
    if (i < 64) {
        t[i] = a[i];
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        a[i] = t[i] + 1;
    } else {
        t[i] = -a[i];
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        a[i] = t[i] + 3;
    }
#else
    t[i] = i < 64 ? a[i] : -a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[i] + 1;
#endif
}
