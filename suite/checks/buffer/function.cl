/* check
what = "an access in a function that is inlined"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "zeros:f32:64"
*/
void put(global float *a, int i, float x)
{
    a[i] = x; // <-
}
kernel void k(global float *a)
{
    int i = get_global_id(0);
#ifdef BUG
    put(a, 2 * i, i);
#else
    put(a, i, i);
#endif
}
