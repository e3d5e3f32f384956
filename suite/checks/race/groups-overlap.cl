/* check
what = "groups write overlapping parts"
finds = ["F0004"]
global = [192]
local = [64]
[args]
b = "zeros:i32:260"
*/
kernel void k(global int *b)
{
    int i = get_global_id(0);
#ifdef BUG
    if (get_local_id(0) < 2) b[i + 64] = i + 1; // <-
#endif
    b[i] = i; // <-
}
