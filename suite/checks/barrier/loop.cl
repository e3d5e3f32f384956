/* check
what = "a barrier in a loop of different lengths"
finds = ["F0007", "F0018"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
*/
kernel void k(global int *a)
{
    local int t[64];
    int i = get_local_id(0);
    int s = 0;
    t[i] = a[i];
#ifdef BUG
    for (int k = 0; k <= i % 3; k++) {
#else
    for (int k = 0; k <= 2; k++) {
#endif
        barrier(CLK_LOCAL_MEM_FENCE); // <-
        s += t[(i + k) % 64];
    }
    a[i] = s;
}
