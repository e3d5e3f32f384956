/* check
what = "an array of vectors of which one component was never cleared is added to"
finds = ["F0006", "F0002"]
global = [64]
local = [32]
[args]
a = "iota:i32:512"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    int4 bins[8];
    for (int b = 0; b < 8; b++) {
        bins[b].x = 0;
        bins[b].y = 0;
#ifndef BUG
        bins[b].z = 0;
#endif
        bins[b].w = 0;
    }
    for (int n = 0; n < 8; n++)
        bins[a[8 * i + n] & 7].z += n; // <-
    o[i] = bins[i & 7].z; // <-
}
