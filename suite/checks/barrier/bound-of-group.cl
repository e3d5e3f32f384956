/* check
what = "a loop around a barrier that ends by each work-item's own index"
finds = ["F0007", "F0018"]
global = [64]
local = [64]
[args]
a = "iota:i32:256"
o = "zeros:i32:64"
n = "200"
*/
kernel void k(global const int *a, global int *o, int n)
{
    local int t[64];
    int i = get_local_id(0), s = 0;
#ifdef BUG
    for (int j = i; j < n; j += 64) { // <-
#else
    for (int j = i; j - i < n; j += 64) {
#endif
        t[i] = j < n ? a[j] : 0;
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        s += t[63 - i];
        barrier(CLK_LOCAL_MEM_FENCE); // <-
    }
    o[i] = s;
}
