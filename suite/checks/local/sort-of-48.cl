/* check
what = "a bitonic sort for powers of two sorts 48 keys"
finds = ["F0005", "F0006"]
global = [48]
local = [48]
[args]
a = "rand:i32:48:5"
o = "zeros:i32:48"
t = "local:192"
*/
kernel void k(global const int *a, global int *o, local int *t)
{
    int l = get_local_id(0);
    t[l] = a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 2; n <= 64; n *= 2)
        for (int j = n / 2; j > 0; j /= 2) {
            int p = l ^ j;
#ifdef BUG
            if (p > l) {
#else
            if (p > l && p < 48) {
#endif
                int x = t[l], y = t[p]; // <-
                if ((x > y) == ((l & n) == 0)) { t[l] = y; t[p] = x; } // <-
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    o[l] = t[l];
}
