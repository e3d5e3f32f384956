/* check
what = "a row of a tile of seven floats is read as a float4"
finds = ["F0024", "F0010", "F0005"]
global = [8]
local = [8]
[args]
a = "iota:f32:56"
o = "zeros:f32:8"
*/
kernel void k(global const float *a, global float *o)
{
    local float t[8][7];
    int l = get_local_id(0);
    for (int j = 0; j < 7; j++) t[l][j] = a[l * 7 + j];
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef BUG
    float4 v = *(local float4 *)t[l]; // <-
#else
    float4 v = vload4(0, t[l]);
#endif
    o[l] = v.x + v.w;
}
