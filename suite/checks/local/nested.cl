/* check
what = "an index past an array of structures in a structure"
finds = ["F0005"]
says = "t[].l[].v[3]"
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
typedef struct { int tag; int v[3]; } leaf;
typedef struct { leaf l[4]; int sum; } tree;
kernel void k(global const int *a, global int *o)
{
    local tree t[8];
    int i = get_local_id(0);
    int n = i / 4, m = i % 4;
    t[n].l[m].tag = i;
#ifdef BUG
    for (int j = 0; j <= 3; j++)
#else
    for (int j = 0; j < 3; j++)
#endif
        t[n].l[m].v[j] = a[i] + j; // <-
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int j = 0; j < 3; j++) s += t[n].l[(m + 1) % 4].v[j];
    o[i] = s;
}
