/* check
what = "the middle of three components is never set and then summed"
finds = ["F0006", "F0002"]
global = [64]
local = [32]
[args]
a = "rand:i64:192:1"
o = "fresh:i64:256"
s = "zeros:i64:64"
*/
kernel void k(global const long *a, global long3 *o, global long *s)
{
    int i = get_global_id(0);
    o[i].x = a[3 * i];
#ifndef BUG
    o[i].y = a[3 * i + 1];
#endif
    o[i].z = a[3 * i + 2];
    s[i] = o[i].x + o[i].y + o[i].z; // <-
}
