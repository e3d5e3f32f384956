/* check
what = "a structure is copied into a local array behind its end"
finds = ["F0005"]
global = [32]
local = [16]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
typedef struct { int key, value, more[3]; } item;
kernel void k(global const int *a, global int *o)
{
    local item t[16], u[16];
    int i = get_local_id(0), g = get_global_id(0);
    item x;
    x.key = a[g];
    x.value = 2 * a[g];
    for (int j = 0; j < 3; j++) x.more[j] = j;
    u[i] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    t[i + 1] = x; // <-
    if (i == 0) t[0] = x;
#else
    t[i] = x;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    item y = t[15 - i];
    o[g] = y.key + y.more[1] + u[i].value;
}
