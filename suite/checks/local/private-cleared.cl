/* check
what = "a row past an array that was cleared by its initialiser"
finds = ["F0005"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
o = "zeros:i32:16"
*/
typedef struct { int n; int v[3]; } group;
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    group g = { 1 };
    int t[4][2] = { { 1 } };
    t[i % 4][1] += a[i];
#ifdef BUG
    o[i] = t[i % 5][0] + g.v[i % 3]; // <-
#else
    o[i] = t[i % 4][0] + g.v[i % 3] + t[i % 4][1];
#endif
}
