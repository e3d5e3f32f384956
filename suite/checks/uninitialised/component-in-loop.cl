/* check
what = "components of a vector are set in a loop that leaves out the last one"
finds = ["F0006", "F0002"]
global = [64]
local = [32]
[args]
a = "rand:f32:128:1"
o = "fresh:f32:128"
s = "zeros:f32:64"
*/
kernel void k(global const float *a, global float2 *o, global float *s)
{
    int i = get_global_id(0);
#ifdef BUG
    for (int c = 0; c < 1; c++)
#else
    for (int c = 0; c < 2; c++)
#endif
        if (c == 0)
            o[i].x = a[2 * i];
        else
            o[i].y = a[2 * i + 1];
    s[i] = o[i].x + o[i].y; // <-
}
