/* check
what = "a structure with padding is stored whole, with a member that was never set"
finds = ["F0006", "F0002"]
global = [32]
local = [16]
[args]
a = "iota:i64:32"
o = "zeros:i64:96"
n = "zeros:i32:32"
*/
typedef struct { long key; int value; } item;
typedef struct { char c; item i; } outer;
kernel void k(global const long *a, global outer *o, global int *n)
{
    int g = get_global_id(0);
    outer x;
    x.c = g;
    x.i.key = a[g];
#ifndef BUG
    x.i.value = 2 * a[g];
#endif
    o[g] = x;
    n[g] = x.i.value + 1; // <-
}
