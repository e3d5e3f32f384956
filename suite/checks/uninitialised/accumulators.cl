/* check
what = "an array of sums that was never cleared"
finds = ["F0002", "F0006"]
says = "private variable s at byte"
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:256"
*/
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
    int s[4];
#ifndef BUG
    for (int j = 0; j < 4; j++) s[j] = 0;
#endif
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < 4; j++) s[j] += a[(i + j * r) & 63]; // <-
    for (int j = 0; j < 4; j++) o[4 * i + j] = s[j]; // <-
}
