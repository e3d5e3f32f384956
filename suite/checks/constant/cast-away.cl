/* check
what = "a store through a pointer whose const was cast away"
finds = ["F0008"]
global = [64]
local = [64]
[args]
t = "iota:f32:64"
b = "zeros:f32:64"
*/
kernel void k(global const float *t, global float *b)
{
    int i = get_global_id(0);
    b[i] = t[i];
#ifdef BUG
    ((global float *)t)[i] = 0; // <-
#endif
}
