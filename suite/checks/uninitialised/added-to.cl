/* check
what = "elements of a buffer are incremented that were never cleared"
finds = ["F0006"]
global = [64]
local = [64]
[args]
a = "fresh:i32:64"
*/
kernel void k(global int *a)
{
    int i = get_global_id(0);
#ifndef BUG
    a[i] = i;
#endif
    a[i] += 1; // <-
}
