/* check
what = "a table of constants is read before its start"
finds = ["F0001", "F0005"]
global = [16]
local = [16]
[args]
a = "iota:i32:16"
o = "zeros:i32:16"
*/
constant int steps[4] = { 1, 2, 4, 8 };
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = steps[(a[i] & 3) - 1]; // <-
#else
    o[i] = steps[a[i] & 3];
#endif
}
