/* check
what = "a vector of eight read over the end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
a = "iota:f32:512"
b = "zeros:f32:64"
*/
kernel void k(global const float *a, global float *b)
{
    int i = get_global_id(0);
#ifdef BUG
    float8 v = vload8(i + 1, a); // <-
#else
    float8 v = vload8(i, a);
#endif
    b[i] = v.s0 + v.s1 + v.s2 + v.s3 + v.s4 + v.s5 + v.s6 + v.s7;
}
