/* check
what = "an index past an array in a structure"
finds = ["F0005"]
says = "l.v[4]"
global = [16]
local = [16]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
typedef struct { int count; int v[4]; int last; } list;
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    list l = { 0, { 0 }, 9 };
#ifdef BUG
    for (int j = 0; j <= 4; j++) l.v[l.count++] = a[i + j]; // <-
#else
    for (int j = 0; j < 4; j++) l.v[l.count++] = a[i + j];
#endif
    o[i] = l.v[i & 3] + l.last;
}
