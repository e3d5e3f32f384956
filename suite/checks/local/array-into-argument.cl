/* check
what = "a local array written over into an argument"
finds = ["F0005", "F0001", "F0004"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
s = "local:256"
*/
kernel void k(global int *a, local int *s)
{
    local int t[64];
    int i = get_local_id(0);
    s[i] = 1;
#ifdef BUG
    t[(i + 4) & 127] = a[i]; // <-
#else
    t[(i + 4) & 63] = a[i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = s[i] + t[max(i, 4)];
}
