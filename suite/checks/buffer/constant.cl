/* check
what = "a table of constants read behind its end"
finds = ["F0005", "F0001"]
global = [64]
local = [64]
[args]
t = "iota:f32:16"
b = "zeros:f32:64"
*/
kernel void k(constant float *t, global float *b)
{
    int i = get_global_id(0);
#ifdef BUG
    b[i] = t[i % 17]; // <-
#else
    b[i] = t[i % 16];
#endif
}
