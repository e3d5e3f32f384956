/* check
what = "the step of a search is used in the first round before it is set"
finds = ["F0006"]
global = [32]
local = [32]
[args]
a = "iota:i32:32"
o = "zeros:i32:32"
n = "4"
*/
kernel void k(global const int *a, global int *o, int n)
{
    int g = get_global_id(0), x = a[g], step, sum = 0;
#ifndef BUG
    step = 1;
#endif
    for (int j = 0; j < n; j++) {
        sum += x * step; // <-
        step = j + 2;
    }
    o[g] = sum; // <-
}
