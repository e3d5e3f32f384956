/* check
what = "of the vectors of a tile two components are loaded, and a neighbour's third one is used"
finds = ["F0006", "F0002"]
global = [64]
local = [64]
[args]
a = "rand:f32:256:1"
o = "zeros:f32:64"
*/
kernel void k(global const float4 *a, global float *o)
{
    local float4 tile[64];
    int i = get_local_id(0);
    tile[i].xy = a[i].xy;
#ifndef BUG
    tile[i].zw = a[i].zw;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = tile[63 - i].z; // <-
}
