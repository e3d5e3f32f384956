/* check
what = "groups add to one sum without an atomic"
finds = ["F0004"]
global = [256]
local = [64]
[args]
a = "rand:i32:256:2"
b = "zeros:i32:1"
*/
kernel void k(global const int *a, global int *b)
{
    if (get_local_id(0) == 0) {
#ifdef BUG
        b[0] += a[get_group_id(0)]; // <-
#else
        atomic_add(b, a[get_group_id(0)]);
#endif
    }
}
