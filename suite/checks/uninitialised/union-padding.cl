/* check
what = "bytes between the members of a structure are compared"
finds = ["F0006", "F0002"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
typedef union { struct { char c; int v; } s; int words[2]; } both;
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    both x;
#ifndef BUG
    x.words[0] = 0;
#endif
    x.s.c = a[i];
    x.s.v = 7 * a[i];
    o[i] = x.words[0] == a[i] ? 1 : 2; // <-
}
