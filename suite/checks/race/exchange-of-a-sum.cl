/* check
what = "a sum is read, added to and exchanged"
finds = ["F0004", "F0003"]
global = [64]
local = [32]
[args]
a = "iota:i32:64"
s = "zeros:i32:1"
*/
kernel void k(global const int *a, volatile global int *s)
{
    int i = get_global_id(0);
#ifdef BUG
    int old = *s; // <-
    atomic_xchg(s, old + a[i]); // <-
#else
    atomic_add(s, a[i]);
#endif
}
