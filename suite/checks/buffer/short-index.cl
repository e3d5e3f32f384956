/* check
what = "an index of sixteen bits that wraps below zero"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:70000"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
#ifdef BUG
    short at = (short)(i * 1024);
#else
    int at = i * 1024;
#endif
    o[i] = a[at]; // <-
}
