/* check
what = "a helper that sums 32 is handed two arrays, of which one has 16"
finds = ["F0005", "F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
int sum(local const int *t)
{
    int s = 0;
    for (int n = 0; n < 32; n++) s += t[n]; // <-
    return s;
}
kernel void k(global const int *a, global int *o)
{
    local int all[32];
#ifdef BUG
    local int half_of[16];
#else
    local int half_of[32];
#endif
    int i = get_local_id(0);
    all[i] = a[i];
#ifdef BUG
    if (i < 16) half_of[i] = a[2 * i];
#else
    half_of[i] = i < 16 ? a[2 * i] : 0;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = sum(i & 1 ? all : half_of); // <-
}
