/* check
what = "lists in an array are walked until an end that the last element lacks"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
next = "iota:i32:17"
o = "zeros:i32:16"
n = "16"
*/
kernel void k(global const int *next, global int *o, int n)
{
    int at = get_global_id(0), steps = 0;
#ifdef BUG
    while (steps < 20) { at = next[at] + 1; steps++; } // <-
#else
    while (steps < 20 && at < n) { at = next[at] + 1; steps++; }
#endif
    o[get_global_id(0)] = steps + at;
}
