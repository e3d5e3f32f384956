/* check
what = "a window of the last four is moved down from its end, and keeps one"
finds = ["F0005", "F0006"]
global = [8]
local = [8]
[args]
a = "iota:i32:64"
o = "zeros:i32:8"
n = "8"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int w[4] = { 0, 0, 0, 0 }, sum = 0, g = get_global_id(0);
    for (int j = 0; j < n; j++) {
#ifdef BUG
        for (int m = 4; m > 0; m--) w[m] = w[m - 1]; // <-
#else
        for (int m = 3; m > 0; m--) w[m] = w[m - 1];
#endif
        w[0] = a[g * 8 + j];
        sum += w[j & 3];
    }
    o[g] = sum;
}
