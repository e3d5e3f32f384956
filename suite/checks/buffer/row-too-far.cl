/* check
what = "a kernel takes the global number for a place of its row, and the range begins at the second"
finds = ["F0001", "F0005"]
global = [8, 8]
local = [8, 1]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    int x = get_global_id(0), y = get_global_id(1);
#ifdef BUG
    int i = x + (y + 1) * 8;
#else
    int i = x + y * 8;
#endif
    o[i] = a[i] * 2; // <-
}
