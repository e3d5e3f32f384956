/* check
what = "vstorea_half3 behind a header of one half"
finds = ["F0024"]
says = "h"
global = [16]
local = [16]
[args]
a = "rand:f32:48"
h = "zeros:f16:68"
*/
kernel void k(global const float *a, global half *h)
{
    int i = get_global_id(0);
#ifdef BUG
    vstorea_half3(vload3(i, a), i, h + 1); // <-
#else
    vstorea_half3(vload3(i, a), i, h + 4);
#endif
}
