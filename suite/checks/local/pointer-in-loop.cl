/* check
what = "a pointer into a local array that a loop counts too far"
finds = ["F0005"]
global = [8]
local = [8]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[8][4], u[8];
    int i = get_local_id(0), s = 0;
    for (int j = 0; j < 4; j++) t[i][j] = a[4 * i + j];
    u[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *p = &t[0][0];
#ifdef BUG
    for (int j = 0; j <= 32; j++) s += *p++; // <-
#else
    for (int j = 0; j < 32; j++) s += *p++;
#endif
    o[i] = s + u[i];
}
