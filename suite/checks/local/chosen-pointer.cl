/* check
what = "a pointer that was chosen into one of two halves leads out of the array"
finds = ["F0005"]
global = [16]
local = [16]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[32], u[16];
    int i = get_local_id(0);
    t[i] = a[i];
    t[i + 16] = a[i + 16];
    u[i] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    local int *p = a[i] & 1 ? t + 16 : t;
#ifdef BUG
    o[i] = p[i + 1] + u[i]; // <-
#else
    o[i] = p[i] + u[i];
#endif
}
