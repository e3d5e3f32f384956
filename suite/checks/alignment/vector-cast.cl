/* check
what = "a float4 read through a cast at an address that is aligned for a float"
finds = ["F0010", "F0024"]
global = [16]
local = [16]
[args]
a = "rand:f32:256:4"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float4 *o)
{
    int i = get_global_id(0);
#ifdef BUG
    o[i] = *(global const float4 *)(a + 7 * i + 1); // <-
#else
    o[i] = vload4(0, a + 7 * i + 1);
#endif
}
