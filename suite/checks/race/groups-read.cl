/* check
what = "groups read plainly what others change by atomics"
finds = ["F0004"]
global = [256]
local = [64]
[args]
a = "rand:u32:256:2"
b = "zeros:u32:1"
c = "zeros:u32:256"
*/
kernel void k(global const uint *a, global uint *b, global uint *c)
{
    int i = get_global_id(0);
#ifdef BUG
    c[i] = b[0]; // <-
#else
    c[i] = atomic_or(b, 0);
#endif
    if (get_local_id(0) == 0) atomic_max(b, a[i]); // <-
}
