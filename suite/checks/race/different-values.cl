/* check
what = "every work-item that finds something stores its number, and several do"
finds = ["F0004", "F0003"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
f = "zeros:i32:1"
*/
kernel void k(global const int *a, global int *f)
{
    int i = get_global_id(0);
#ifdef BUG
    if (a[i] > 30) *f = i; // <-
#else
    if (a[i] == 33) *f = i;
#endif
}
