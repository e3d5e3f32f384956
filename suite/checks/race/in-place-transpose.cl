/* check
what = "a square is transposed in place by work-items that each exchange two elements, and each pair has two"
finds = ["F0003", "F0004"]
global = [16, 16]
local = [8, 8]
[args]
a = "iota:i32:256"
*/
kernel void k(global int *a)
{
    int x = get_global_id(0), y = get_global_id(1), n = get_global_size(0);
#ifndef BUG
    if (x < y)
#endif
    {
        int t = a[y * n + x]; // <-
        a[y * n + x] = a[x * n + y]; // <-
        a[x * n + y] = t; // <-
    }
}
