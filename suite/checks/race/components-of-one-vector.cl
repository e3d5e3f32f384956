/* check
what = "two work-items set two components of one vector"
finds = ["F0004", "F0003"]
global = [64]
local = [64]
[args]
a = "rand:f32:64:1"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float2 *o)
{
    int i = get_global_id(0);
#ifdef BUG
    if (i & 1)
        o[i / 2].y = a[i]; // <-
    else
        o[i / 2].x = a[i]; // <-
#else
    ((global float *)o)[i] = a[i];
#endif
}
