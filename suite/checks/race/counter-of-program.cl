/* check
what = "a counter of the whole program is incremented plainly"
finds = ["F0004", "F0003"]
says = "program variable hits"
options = "-cl-std=CL2.0"
global = [64]
local = [32]
[args]
a = "iota:i32:64"
*/
global int hits;
kernel void k(global const int *a)
{
#ifdef BUG
    if (a[get_global_id(0)] & 1) hits++; // <-
#else
    if (a[get_global_id(0)] & 1) atomic_inc((volatile global int *)&hits);
#endif
}
