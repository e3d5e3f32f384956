/* check
what = "of a vector of eight only the lower half is set, and an index is taken from the upper one"
finds = ["F0006"]
global = [32]
local = [32]
[args]
a = "iota:i16:256"
o = "fresh:i16:256"
r = "zeros:i32:256"
*/
kernel void k(global const short8 *a, global short8 *o, global int *r)
{
    int i = get_global_id(0);
    o[i].lo = a[i].lo;
#ifndef BUG
    o[i].hi = a[i].hi;
#endif
    r[o[i].s5 & 255] = i; // <-
}
