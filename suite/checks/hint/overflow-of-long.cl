/* check
what = "a hash of longs is multiplied beyond the largest one"
finds = ["F0028"]
hints = true
global = [64]
local = [64]
[args]
a = "iota:i64:64"
*/
kernel void k(global long *a)
{
    int i = get_global_id(0);
#ifdef BUG
    long h = a[i] * 0x100000001b3 * 0x100000001b3; // <-
#else
    long h = (ulong)a[i] * 0x100000001b3 * 0x100000001b3;
#endif
    a[i] = h >> 3;
}
