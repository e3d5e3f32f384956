/* check
what = "the component of a vector by an index that is too large"
finds = ["F0005"]
hints = true
global = [8]
local = [8]
[args]
a = "iota:i32:8"
*/
kernel void k(global int *a)
{
    int i = get_global_id(0);
    int4 v = (int4)(a[i]) + (int4)(1, 2, 3, 4);
#ifdef BUG
    a[i] = v[i]; // <-
#else
    a[i] = v[i & 3];
#endif
}
