/* check
what = "more results are appended than there is room for"
finds = ["F0005", "F0001"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
n = "zeros:i32:1"
o = "zeros:i32:16"
*/
kernel void k(global const int *a, global int *n, global int *o)
{
    int x = a[get_global_id(0)];
    if (x % 3 == 0) {
        int at = atomic_inc(n);
#ifndef BUG
        if (at < 16)
#endif
            o[at] = x; // <-
    }
}
