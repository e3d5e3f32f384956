/* check
what = "of two flags in one word by plain or the one may get lost"
finds = ["F0004"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
flags = "zeros:u32:1"
*/
kernel void k(global const int *a, global uint *flags)
{
    int g = get_global_id(0);
#ifdef BUG
    if (a[g] == 5) *flags |= 1; // <-
    if (a[g] == 40) *flags |= 2; // <-
#else
    if (a[g] == 5) atomic_or(flags, 1u);
    if (a[g] == 40) atomic_or(flags, 2u);
#endif
}
