/* check
what = "a function that forgets to write its result"
finds = ["F0002", "F0006"]
global = [64]
local = [64]
[args]
a = "iota:i32:64"
o = "zeros:i32:64"
*/
void larger(int a, int b, int *r)
{
    if (a > b) *r = a;
#ifndef BUG
    else *r = b;
#endif
}
kernel void k(global const int *a, global int *o)
{
    int i = get_global_id(0), r;
    larger(a[i], 32, &r);
    o[i] = r + 1; // <-
}
