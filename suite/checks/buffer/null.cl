/* check
what = "a pointer argument that is null"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "0"
b = "zeros:f32:64"
n = "64"
*/
kernel void k(global const float *a, global float *b, int n)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i] = a[i]; // <-
#else
    b[i] = a ? a[i] : 0;
#endif
}
