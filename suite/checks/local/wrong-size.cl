/* check
what = "a group of another size than the kernel was written for"
finds = ["F0005"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
#ifdef BUG
#define GROUP 16
#else
#define GROUP 32
#endif
kernel void k(global const int *a, global int *o)
{
    local int t[GROUP];
    int i = get_local_id(0);
    t[i] = a[get_global_id(0)]; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = t[GROUP - 1 - (i & (GROUP - 1))];
}
