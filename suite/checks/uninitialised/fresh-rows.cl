/* check
what = "a buffer of results is filled in its first rows and averaged over all"
finds = ["F0006"]
global = [16]
local = [16]
[args]
t = "fresh:f32:64"
o = "zeros:f32:16"
n = "3"
*/
kernel void k(global float *t, global float *o, int n)
{
    int g = get_global_id(0);
#ifndef BUG
    n = 4;
#endif
    for (int r = 0; r < n; r++) t[r * 16 + g] = r + g;
    float s = 0;
    for (int r = 0; r < 4; r++) s += t[r * 16 + g]; // <-
    o[g] = s * 0.25f;
}
