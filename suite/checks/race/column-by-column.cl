/* check
what = "all work-items store to the same places of a buffer, one after the other"
finds = ["F0004", "F0003"]
says = "buffer o"
global = [64]
local = [32]
[args]
a = "iota:f32:64"
o = "zeros:f32:256"
n = "4"
*/
kernel void k(global const float *a, global float *o, int n)
{
    int l = get_local_id(0), group = get_group_id(0);
    for (int r = n - 1; r >= 0; r--) {
        float v = a[get_global_id(0)] * (r + 1);
#ifdef BUG
        o[group * n + r % n] = v; // <-
#else
        o[(group * n + r % n) * 32 + l] = v;
#endif
    }
}
