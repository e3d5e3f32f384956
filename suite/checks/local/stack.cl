/* check
what = "a stack in private memory that overflows"
finds = ["F0005", "F0002", "F0001"]
global = [16]
local = [16]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
kernel void k(global const int *a, global int *o)
{
    int stack[8], top = 0, i = get_global_id(0), s = 0;
#ifdef BUG
    int n = 6 + (i & 3);
#else
    int n = 4 + (i & 3);
#endif
    for (int j = 0; j < n; j++) stack[top++] = a[i + j]; // <-
    while (top > 0) s = 3 * s + stack[--top]; // <-
    o[i] = s;
}
