/* check
what = "a private sum that starts uninitialised"
finds = ["F0002", "F0006"]
says = "private variable s"
global = [64]
local = [64]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
n = "4"
*/
kernel void k(global const float *a, global float *o, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    float s;
#else
    float s = 0;
#endif
    for (int j = 0; j < n; j++) s += a[(i + j) & 63]; // <-
    o[i] = s; // <-
}
