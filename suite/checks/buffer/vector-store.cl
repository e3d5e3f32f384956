/* check
what = "a vector of four over the end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "zeros:f32:256"
*/
kernel void k(global float *a)
{
    int i = get_global_id(0);
    float4 v = (float4)(i, 1, 2, 3);
#ifdef BUG
    vstore4(v, 0, a + 4 * i + 2); // <-
#else
    vstore4(v, i, a);
#endif
}
