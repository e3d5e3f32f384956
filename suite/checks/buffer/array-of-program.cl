/* check
what = "an array of the whole program is written behind its end"
finds = ["F0005", "F0001"]
says = "table[24]"
one = true
options = "-cl-std=CL2.0"
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
*/
global int table[24], sum;
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    table[i] = a[i]; // <-
#else
    if (i < 24) table[i] = a[i];
#endif
    o[i] = a[i];
}
