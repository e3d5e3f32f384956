/* check
what = "vloada_half4 from an address that is aligned for two halves"
finds = ["F0024"]
says = "h"
global = [16]
local = [16]
[args]
h = "rand:f16:66"
o = "zeros:f32x4:16"
*/
kernel void k(global const half *h, global float4 *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = vloada_half4(i, h + 2); // <-
#else
    o[i] = vload_half4(i, h + 2) + vloada_half4(i, h);
#endif
}
