/* check
what = "a remainder of zero, of unsigned numbers"
finds = ["F0021"]
hints = true
global = [64]
local = [64]
[args]
a = "zeros:u32:64"
b = "iota:u32:64"
*/
kernel void k(global uint *a, global const uint *b)
{
    int i = get_global_id(0);
#ifdef BUG
    a[i] = 4000000000u % b[i]; // <-
#else
    a[i] = 4000000000u % (b[i] + 1);
#endif
}
