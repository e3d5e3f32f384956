/* check
what = "a union's smaller member is set and the larger one is read"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:u16:64"
o = "zeros:u32:64"
*/
typedef union { ushort s; uint u; } word;
kernel void k(global const ushort *a, global uint *o)
{
    int i = get_global_id(0);
    word w;
#ifndef BUG
    w.u = 0;
#endif
    w.s = a[i];
    o[i] = w.u * 3; // <-
}
