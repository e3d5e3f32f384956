/* check
what = "a pointer that may lead into local or private memory leads behind either"
finds = ["F0005", "F0002", "F0006", "F0001"]
global = [32]
local = [16]
options = "-cl-std=CL2.0"
[args]
a = "iota:i32:64"
o = "zeros:i32:32"
*/
kernel void k(global const int *a, global int *o)
{
    local int x[16];
    local int x2[16];
    int z[16], z2[16];
    int i = get_local_id(0), g = get_global_id(0);
    x[i] = a[g];
    x2[i] = 1;
    for (int j = 0; j < 16; j++) { z[j] = a[g + j]; z2[j] = j; }
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = a[g] & 1 ? (int *)x : (int *)z;
    int s = 0;
#ifdef BUG
    for (int j = 0; j <= 16; j++) s += p[j]; // <-
#else
    for (int j = 0; j < 16; j++) s += p[j];
#endif
    o[g] = s + x2[15 - i] + z2[a[g] & 15];
}
