/* check
what = "work-items scatter different values to one place"
finds = ["F0003", "F0004"]
global = [64]
local = [64]
[args]
b = "zeros:i32:64"
*/
kernel void k(global int *b)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i / 2] = i; // <-
#else
    b[i] = i;
#endif
}
