/* check
what = "one of four pointers to rows leads to a row too far"
finds = ["F0005", "F0025", "F0006", "F0004"]
global = [32]
local = [32]
[args]
a = "rand:f32:128:2"
o = "zeros:f32:32"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[4][32];
    local float other[64];
    local float *row[4];
    int i = get_local_id(0);
    other[i] = 1;
    other[i + 32] = 1;
    for (int r = 0; r < 4; r++) t[r][i] = a[r * 32 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    for (int r = 0; r < 4; r++) row[r] = t[r + 1];
#else
    for (int r = 0; r < 4; r++) row[r] = t[3 - r];
#endif
    float s = 0;
    for (int r = 0; r < 4; r++) s += row[(r + i) & 3][i]; // <-
    o[i] = s + other[i];
}
