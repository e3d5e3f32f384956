/* check
what = "the second of two shorts is added to that nothing set"
finds = ["F0006"]
global = [64]
local = [32]
[args]
a = "iota:i16:64"
o = "fresh:i16:128"
*/
kernel void k(global const short *a, global short2 *o)
{
    int i = get_global_id(0);
    o[i].x = a[i];
#ifndef BUG
    o[i].y = 0;
#endif
    o[i].y += a[i]; // <-
}
