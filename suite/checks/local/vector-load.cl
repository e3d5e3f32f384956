/* check
what = "vload4 over the end of a local array"
finds = ["F0005"]
global = [16]
local = [16]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    local int t[16], u[16];
    int i = get_local_id(0);
    t[i] = a[i];
    u[i] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    int4 v = vload4(0, t + i); // <-
#else
    int4 v = vload4(i & 3, t);
#endif
    o[i] = v.x + v.w + u[i];
}
