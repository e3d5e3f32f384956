/* check
what = "the middle of three components is never set and then summed"
finds = ["F0006", "F0002"]
global = [64]
local = [32]
absent.dg2 = "the device has no doubles"
absent.tgllp = "the device has no doubles"
[args]
a = "rand:f64:192:1"
o = "fresh:f64:256"
s = "zeros:f64:64"
*/
kernel void k(global const double *a, global double3 *o, global double *s)
{
    int i = get_global_id(0);
    o[i].x = a[3 * i];
#ifndef BUG
    o[i].y = a[3 * i + 1];
#endif
    o[i].z = a[3 * i + 2];
    s[i] = o[i].x + o[i].y + o[i].z; // <-
}
