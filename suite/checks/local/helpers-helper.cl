/* check
what = "a helper's helper writes behind the end of the local row that it was handed"
finds = ["F0005"]
global = [32]
local = [16]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
void put(local int *row, int at, int v)
{
    row[at] = v; // <-
}
void put_all(local int *row, int i, int v)
{
#ifdef BUG
    put(row, i + 1, v); // <-
#else
    put(row, i, v);
#endif
    if (i == 0) put(row, 0, v);
}
kernel void k(global const int *a, global int *o)
{
    local int x[16], y[16], z[16];
    int i = get_local_id(0), g = get_global_id(0);
    z[i] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    put_all(x, i, a[g]); // <-
    put_all(y, i, -a[g]); // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = x[i] - y[15 - i] + z[i];
}
