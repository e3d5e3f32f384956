/* check
what = "all work-items store vectors to the same places of a row, one after the other"
finds = ["F0004", "F0003"]
says = "buffer o"
global = [64]
local = [32]
[args]
a = "iota:f32:64"
o = "zeros:f32:1024"
n = "4"
*/
kernel void k(global const float *a, global float *o, int n)
{
    int g = get_global_id(0);
    for (int r = 0; r < n; ++r) {
        float4 v = a[g] + (float4)(0, 1, 2, 3);
#ifdef BUG
        vstore4(v, r, o + get_group_id(0) * 512); // <-
#else
        vstore4(v, g * n + r, o);
#endif
    }
}
