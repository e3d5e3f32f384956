/* check
what = "flags are set in words that nobody cleared"
finds = ["F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "fresh:u32:64"
*/
kernel void k(global const int *a, global uint *o)
{
    int i = get_global_id(0);
#ifndef BUG
    o[i] = 0;
#endif
    o[i] |= 0x10000 << (a[i] & 7); // <-
}
