/* check
what = "a binary search for what is larger than all ends behind the table"
finds = ["F0001", "F0005"]
global = [64]
local = [64]
[args]
table = "iota:i32:50"
o = "zeros:i32:64"
*/
kernel void k(global const int *table, global int *o)
{
    int i = get_global_id(0), lo = 0, hi = 50;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (table[mid] < i) lo = mid + 1; else hi = mid;
    }
#ifdef BUG
    o[i] = table[lo] == i; // <-
#else
    o[i] = lo < 50 && table[lo] == i;
#endif
}
