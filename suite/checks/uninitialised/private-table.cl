/* check
what = "a table in registers is stored, and one of its elements was never written"
finds = ["F0002", "F0006"]
global = [1]
local = [1]
[args]
at = "u32:0,1,1,3"
o = "zeros:f32:4"
*/
kernel void k(global const uint *at, global float *o)
{
    float t[4];
#ifndef BUG
    for (int i = 0; i < 4; i++) t[i] = -1;
#endif
    for (int i = 0; i < 4; i++) t[at[i]] = i;
    for (int i = 0; i < 4; i++) o[i] = t[i]; // <-
}
