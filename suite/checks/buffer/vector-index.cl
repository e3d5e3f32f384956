/* check
what = "an index of vectors where one of elements was meant"
finds = ["F0005", "F0001"]
global = [16]
local = [16]
[args]
a = "iota:f32:64"
o = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *o)
{
    int i = get_global_id(0);
#ifdef BUG
    vstore4(vload4(4 * i, a), 4 * i, o); // <-
#else
    vstore4(vload4(i, a), i, o);
#endif
}
